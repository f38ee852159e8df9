"""A data set whose items are made in workers."""

import random

import torch
from torch.utils.data import Dataset


class Pairs(Dataset):
    """Sentence pairs, cut to a length."""

    def __init__(self, size, length):
        generator = torch.Generator().manual_seed(size)
        self.rows = [
            torch.randint(1, 50, (int(torch.randint(1, 12, (1,), generator=generator)),), generator=generator)
            for _ in range(size)
        ]
        self.length = length

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        """A crop at random, padded, with its mask."""
        row = self.rows[index]
        if len(row) > self.length:
            start = random.randint(0, len(row) - self.length)
            row = row[start : start + self.length]
        padded = torch.zeros(self.length, dtype=torch.long)
        padded[: len(row)] = row
        return {"ids": padded, "mask": padded.ne(0), "length": len(row)}
