"""Updates of AdamP: weights before a normalization (by channel, by layer), and weights that are not scale-invariant."""

import torch
from torch import nn

from adamp.adamp import AdamP

METHOD = AdamP([nn.Parameter(torch.zeros(1))])


def tensors(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for _ in range(3)]


def without_radial_part(vectors, weights):
    share = (vectors * weights).sum(1, keepdim=True) / (weights**2).sum(1, keepdim=True)
    return vectors - share * weights


def project(p, grad, perturb, delta=0.1, wd_ratio=0.1, eps=1e-8):
    """A call as in `step`: the update is a tensor of its own."""
    METHOD._projection(p, grad, perturb.clone(), delta, wd_ratio, eps)


def invariant_by_channel(seed, *shape):
    weight, grad, update = tensors(seed, *shape)
    flat = without_radial_part(grad.flatten(1), weight.flatten(1))
    return nn.Parameter(weight), flat.view(shape), update


def invariant_by_layer(seed, *shape):
    weight, grad, update = tensors(seed, *shape)
    flat = without_radial_part(grad.reshape(1, -1), weight.reshape(1, -1))
    return nn.Parameter(weight), flat.view(shape), update


def near_the_bound(cosine, channels=3, width=16):
    """Every channel's gradient has this cosine with its weight; the bound of a channel is delta / 4."""
    weight, grad, update = tensors(40, channels, width)
    flat = without_radial_part(grad, weight)
    unit = weight / weight.norm(dim=1, keepdim=True)
    grad = flat / flat.norm(dim=1, keepdim=True) * (1 - cosine**2) ** 0.5 + cosine * unit
    return nn.Parameter(weight), grad, update


def train(seed, **options):
    """The first weight stands before a normalization, the last one does not."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3))
    optimizer = AdamP(model.parameters(), lr=0.05, weight_decay=0.01, **options)
    x, y = torch.randn(6, 2, 4, 4), torch.randint(0, 3, (6,))
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def main():
    project(*invariant_by_channel(1, 4, 6))
    project(*invariant_by_channel(2, 3, 2, 2, 2), wd_ratio=0.5)
    project(*invariant_by_layer(3, 4, 6))
    project(*invariant_by_layer(4, 3, 2, 2), delta=0.3)
    project(*tensors(5, 4, 6))
    project(*invariant_by_channel(6, 1, 5), wd_ratio=0.25)
    weight, grad, update = invariant_by_channel(7, 5, 8)
    project(weight, grad + 4 * weight.detach() * torch.tensor([[1.0], [0], [0], [0], [0]]), update)
    project(weight, grad - 4 * weight.detach(), update)
    project(weight, -weight.detach().clone(), update, wd_ratio=0.7)
    project(weight, grad, weight.detach() * 2 + 0.1 * update)
    for cosine in (0.02, 0.024, 0.026, 0.05, -0.02, -0.2):
        project(*near_the_bound(cosine))
    project(*near_the_bound(0.04), delta=0.2)
    aligned, _, update = tensors(8, 3, 4)
    project(nn.Parameter(aligned), aligned.clone(), update)
    train(0)
    train(1, nesterov=True, delta=0.5)


if __name__ == "__main__":
    main()
