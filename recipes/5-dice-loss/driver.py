"""Calls DiceLoss for binary and multi-class labels, as the tasks of the repository configure it."""

import torch

from loss.dice_loss import DiceLoss


def binary(size, seed, masked=0, positives=0.4, logits=True, **options):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(size, 1, generator=generator) * 1.5
    scores = (scores if logits else scores.sigmoid()).requires_grad_()
    labels = (torch.rand(size, generator=generator) < positives).long()
    mask = None
    if masked:
        mask = torch.ones(size, dtype=torch.long)
        mask[torch.randperm(size, generator=generator)[:masked]] = 0
    loss = DiceLoss(with_logits=logits, **options)(scores, labels, mask)
    loss.backward()
    print(f"{loss.item():.4f}")


def classes(size, number, seed, logits=True, **options):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(size, number, generator=generator)
    scores = (scores if logits else scores.softmax(-1)).requires_grad_()
    labels = torch.randint(0, number, (size,), generator=generator)
    loss = DiceLoss(with_logits=logits, **options)(scores, labels)
    loss.sum().backward()
    print(loss.shape)


def main():
    binary(8, 0, alpha=0.5, smooth=1.0)
    binary(9, 1, alpha=1.0, smooth=1.0, square_denominator=True)
    binary(7, 2, masked=2, smooth=0.5)
    binary(7, 3, logits=False, alpha=0.01, smooth=1e-3)
    binary(12, 4, alpha=0.3, smooth=1.0, ohem_ratio=1.0, positives=0.4)
    binary(14, 5, smooth=1.0, ohem_ratio=0.6, positives=0.5, masked=4)
    binary(10, 6, alpha=0.2, smooth=0.1, ohem_ratio=3.0, positives=0.5, logits=False)
    binary(16, 7, masked=5, smooth=1.0, ohem_ratio=1.5, positives=0.3, square_denominator=True)
    binary(15, 8, masked=3, smooth=1.0, alpha=1.0, logits=False, ohem_ratio=0.8, positives=0.45)
    binary(6, 9, ohem_ratio=0.1, smooth=1.0)
    binary(5, 10, positives=0.0, smooth=1.0)
    binary(5, 11, positives=1.1, alpha=2.0, smooth=1.0)
    classes(5, 3, 12, alpha=0.5, smooth=1.0, reduction="none")
    classes(4, 3, 13, alpha=1.0, smooth=1.0, square_denominator=True, reduction="none")
    classes(6, 2, 14, smooth=0.2, logits=False)
    classes(4, 4, 15, alpha=0.1, smooth=1.0, reduction="sum")


if __name__ == "__main__":
    main()
