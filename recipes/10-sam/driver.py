"""Steps of SAM on small models: plain and adaptive, several radii, base optimizers, frozen and unused parameters."""

import torch
from torch import nn

from sam import SAM


def batch(seed, rows, width, classes):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, width, generator=generator)
    return x, torch.randint(0, classes, (rows,), generator=generator)


def train(optimizer, loss_of, steps, clear):
    for _ in range(steps):
        loss_of().backward()
        optimizer.first_step(zero_grad=clear)
        if not clear:
            optimizer.zero_grad()
        loss_of().backward()
        optimizer.second_step(zero_grad=True)


def classifier(seed, adaptive, rho, clear, base=torch.optim.SGD, **options):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 6), nn.LayerNorm(6), nn.Tanh(), nn.Linear(6, 3))
    x, y = batch(seed, 8, 5, 3)
    groups = [
        {"params": model[0].parameters(), "rho": rho},
        {"params": [*model[1].parameters(), *model[3].parameters()], "rho": 3 * rho},
    ]
    optimizer = SAM(groups, base, rho=rho, adaptive=adaptive, **options)
    train(optimizer, lambda: nn.functional.cross_entropy(model(x), y), 3, clear)


def mixed_groups(seed):
    """One group is adaptive and the other is not; one parameter is never used, one is frozen."""
    torch.manual_seed(seed)
    used = nn.Parameter(torch.randn(4, 3))
    shift = nn.Parameter(torch.tensor([0.5, -2.0, 0.0]))
    unused = nn.Parameter(torch.randn(2))
    frozen = nn.Parameter(torch.randn(3), requires_grad=False)
    groups = [
        {"params": [used, unused], "adaptive": True, "rho": 0.7},
        {"params": [frozen, shift], "adaptive": False},
    ]
    optimizer = SAM(groups, torch.optim.Adam, rho=0.1, lr=0.01)
    x = torch.randn(6, 4)
    train(optimizer, lambda: ((x @ used + shift * frozen) ** 2).mean(), 3, seed % 2 == 0)


def no_gradient():
    """At a minimum the gradient is zero, and so is the climb."""
    weight = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = SAM([weight], torch.optim.SGD, rho=0.5, lr=0.1)
    (weight * 0).sum().backward()
    optimizer.first_step()


def scalar(adaptive):
    weight = nn.Parameter(torch.tensor(-3.0, dtype=torch.float64))
    optimizer = SAM([weight], torch.optim.SGD, rho=0.25, adaptive=adaptive, lr=0.1)
    (weight**2).backward()
    optimizer.first_step(zero_grad=True)


def main():
    for seed, (adaptive, rho, clear) in enumerate(
        [(False, 0.05, True), (True, 0.5, True), (False, 2.0, False), (True, 2.0, False)]
    ):
        classifier(seed, adaptive, rho, clear, lr=0.1, momentum=0.9, weight_decay=0.01)
    classifier(9, False, 0.3, True, base=torch.optim.Adam, lr=0.01)
    for seed in (20, 21):
        mixed_groups(seed)
    no_gradient()
    scalar(False)
    scalar(True)


if __name__ == "__main__":
    main()
