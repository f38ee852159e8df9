"""Calls the backward pass of alpha-entmax as autograd does, with outputs of the forward pass."""

from types import SimpleNamespace

import torch

from entmax.root_finding import EntmaxBisectFunction, entmax_bisect


def call(shape, alpha, dim, wants_alpha, seed, spread=2.0):
    generator = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(*shape, generator=generator)
    reduced = list(shape)
    reduced[dim] = 1
    alphas = torch.as_tensor(alpha, dtype=scores.dtype).expand(*reduced)
    probabilities = entmax_bisect(scores, alphas, dim=dim)
    context = SimpleNamespace(
        saved_tensors=(probabilities,), alpha=alphas, dim=dim, needs_input_grad=(True, wants_alpha, False, False, False)
    )
    incoming = torch.randn(*shape, generator=generator)
    gradients = EntmaxBisectFunction.backward(context, incoming)
    print([None if one is None else tuple(one.shape) for one in gradients])


def main():
    call((3, 7), 1.5, -1, True, seed=0)
    call((3, 7), 1.5, -1, False, seed=1)
    call((6, 4), 1.2, 0, True, seed=2)
    call((2, 5, 3), 2.0, 1, True, seed=3)
    call((2, 3, 6), torch.tensor([[[1.3], [1.6], [1.9]]]), 2, True, seed=4, spread=1.0)
    call((2, 6, 3), 1.75, 1, False, seed=5)
    call((4, 1), 1.5, -1, True, seed=6)
    call((1, 9), 1.1, -1, True, seed=7, spread=0.3)
    call((3, 4), 1.5, 0, False, seed=8, spread=5.0)
    scores = torch.randn(2, 5, generator=torch.Generator().manual_seed(9)).requires_grad_()
    alpha = torch.tensor(1.4, requires_grad=True)
    entmax_bisect(scores, alpha)[:, 0].sum().backward()
    print(scores.grad.abs().sum().item(), alpha.grad.item())


if __name__ == "__main__":
    main()
