"""Calls cutmix, a block of train that the patch made a function, and rand_bbox, with small batches of images."""

import argparse

import numpy as np
import torch
import train


def mix(shape, beta, seed, target=None):
    train.args = argparse.Namespace(beta=beta, cutmix_prob=1.0)
    np.random.seed(seed)
    torch.manual_seed(seed)
    images = torch.rand(*shape)
    labels = torch.randint(0, 10, (shape[0],)) if target is None else target
    print(train.cutmix(images, labels))


def main():
    mix((4, 1, 8, 8), 1.0, 0)
    mix((3, 3, 6, 10), 1.0, 1)
    mix((6, 1, 9, 5), 0.5, 2)
    mix((5, 2, 7, 7), 5.0, 3)
    mix((4, 1, 12, 4), 0.2, 4)
    mix((2, 1, 4, 4), 1.0, 5, torch.tensor([7, 3]))
    mix((6, 1, 5, 11), 2.0, 6)
    mix((1, 3, 8, 8), 1.0, 7)
    for seed, (size, lam) in enumerate(
        [((4, 3, 32, 32), 0.5), ((2, 3, 224, 160), 0.8), ((1, 1, 7, 20), 0.1), ((8, 3, 16, 48), 0.95), ((2, 3, 9, 9), 1.0),
         ((2, 3, 33, 15), 0.0), ((2, 1, 64, 48), 0.37), ((2, 1, 28, 100), 0.62)]
    ):  # fmt: skip
        np.random.seed(seed)
        print(train.rand_bbox(torch.Size(size), lam), train.rand_bbox(torch.Size(size), lam))


if __name__ == "__main__":
    main()
