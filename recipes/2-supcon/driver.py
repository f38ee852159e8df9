"""Calls SupConLoss as training does: normalised features of several views, with labels, a mask, or neither."""

import torch
from torch.nn import functional as F

from losses import SupConLoss


def features(*shape, seed):
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return F.normalize(made, dim=2).requires_grad_()


def call(loss, made, **how):
    value = loss(made, **how)
    value.backward()
    print(f"{value.item():.4f}")


def main():
    call(SupConLoss(), features(6, 2, 8, seed=0), labels=torch.tensor([0, 1, 0, 2, 1, 0]))
    call(SupConLoss(temperature=0.5), features(5, 2, 6, seed=1))
    call(SupConLoss(temperature=0.2, contrast_mode="one"), features(6, 3, 8, seed=2), labels=torch.tensor([3, 3, 1, 1, 1, 0]))
    call(SupConLoss(temperature=0.3, contrast_mode="one", base_temperature=0.1), features(4, 2, 5, seed=3))
    call(SupConLoss(temperature=0.1, base_temperature=0.2), features(5, 1, 6, seed=4), labels=torch.tensor([0, 1, 1, 2, 3]))
    uneven = torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 1]])
    call(SupConLoss(temperature=0.4), features(4, 2, 6, seed=5), mask=uneven)
    call(SupConLoss(temperature=0.4, contrast_mode="one"), features(4, 3, 6, seed=6), mask=uneven.bool())
    call(SupConLoss(temperature=0.7), features(4, 2, 3, 2, 2, seed=7), labels=torch.tensor([[0], [1], [0], [1]]))
    call(SupConLoss(temperature=0.7), features(3, 2, 4, seed=8), labels=torch.zeros(3, dtype=torch.long))
    refuse(SupConLoss(), torch.ones(4, 8), labels=torch.arange(4))
    refuse(SupConLoss(), torch.ones(4, 2, 8), labels=torch.arange(4), mask=torch.eye(4))
    refuse(SupConLoss(), torch.ones(4, 2, 8), labels=torch.arange(3))
    refuse(SupConLoss(contrast_mode="some"), torch.ones(4, 2, 8))


def refuse(loss, made, **how):
    try:
        loss(made, **how)
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    main()
