"""Calls the criterion of image/main.py with representations of unit length, as its training loop does."""

import pathlib
import sys

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path("image").resolve()))
import main as training  # noqa: E402


def call(size, width, tau_plus, beta, estimator, temperature, seed, closeness=0.0):
    training.temperature = temperature
    generator = torch.Generator().manual_seed(seed)
    centre = closeness * torch.randn(1, width, generator=generator)
    first = torch.randn(size, width, generator=generator) + centre
    second = first + 0.3 * torch.randn(size, width, generator=generator)
    first = F.normalize(first, dim=-1).requires_grad_()
    second = F.normalize(second, dim=-1).requires_grad_()
    loss = training.criterion(first, second, tau_plus, size, beta, estimator)
    loss.backward()
    print(f"{loss.item():.4f}")


def main():
    call(5, 8, 0.1, 1.0, "hard", 0.5, seed=0, closeness=1.0)
    call(4, 6, 0.05, 0.5, "hard", 0.3, seed=1, closeness=2.0)
    call(6, 8, 0.1, 2.0, "hard", 1.0, seed=2)
    call(4, 8, 0.3, 1.0, "hard", 0.2, seed=3)  # the lower bound holds
    call(3, 4, 0.0, 0.0, "hard", 0.5, seed=4)
    call(2, 5, 0.1, 1.0, "hard", 0.7, seed=5, closeness=1.5)
    call(5, 8, 0.1, 1.0, "easy", 0.5, seed=6)
    call(3, 6, 0.2, 0.5, "easy", 0.25, seed=7, closeness=1.0)
    try:
        call(3, 6, 0.1, 1.0, "medium", 0.5, seed=8)
    except Exception as error:
        print(error)


if __name__ == "__main__":
    main()
