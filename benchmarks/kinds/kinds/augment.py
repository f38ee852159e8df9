"""Augmentation of texts: at random, in place, and item by item."""

import random

import numpy as np


def augment(words, p_swap=0.3, p_drop=0.1, rng=None):
    """Swap neighbours and drop words at random."""
    words = list(words)
    for i in range(len(words) - 1):
        if random.random() < p_swap:
            words[i], words[i + 1] = words[i + 1], words[i]
    keep = np.random.rand(len(words)) >= p_drop
    if not keep.any():
        return [words[0]]
    return [w for w, k in zip(words, keep) if k]


def mask_spans_(ids, rate, mask_id, rng):
    """Replace random spans in place; returns how many were replaced."""
    count = 0
    i = 0
    while i < len(ids):
        if rng.random() < rate:
            length = int(rng.integers(1, 4))
            for j in range(i, min(i + length, len(ids))):
                ids[j] = mask_id
                count += 1
            i += length
        else:
            i += 1
    return count


def windows(tokens, size, stride):
    """Overlapping windows."""
    start = 0
    while start < len(tokens):
        yield tokens[start : start + size], start
        if start + size >= len(tokens):
            return
        start += stride
