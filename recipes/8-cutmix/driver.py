"""Calls rand_bbox with small batches of images."""

import numpy as np
import torch
import train


def main():
    for seed, (size, lam) in enumerate(
        [((4, 3, 32, 32), 0.5), ((2, 3, 224, 160), 0.8), ((1, 1, 7, 20), 0.1), ((8, 3, 16, 48), 0.95), ((2, 3, 9, 9), 1.0),
         ((2, 3, 33, 15), 0.0), ((2, 1, 64, 48), 0.37), ((2, 1, 28, 100), 0.62)]
    ):  # fmt: skip
        np.random.seed(seed)
        print(train.rand_bbox(torch.Size(size), lam), train.rand_bbox(torch.Size(size), lam))


if __name__ == "__main__":
    main()
