"""Schedule-Free AdamW on small problems: warmup, powers, inner momentum, decay, groups, a rate that changes."""

import torch
from torch import nn

from schedulefree.adamw_schedulefree import AdamWScheduleFree
from unit_test.fixtures import closure


def problem(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    x, y = torch.randn(8, 4), torch.randn(8, 2)
    return model, lambda: nn.functional.mse_loss(model(x), y)


def train(seed, steps=3, rates=(), **options):
    model, loss_of = problem(seed)
    optimizer = AdamWScheduleFree(model.parameters(), **options)
    optimizer.train()
    for step in range(steps):
        if rates:
            optimizer.param_groups[0]["lr"] = rates[step]
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()


def groups_and_gaps(foreach):
    """Two groups with options of their own; one parameter has its first gradient late, one has none."""
    torch.manual_seed(7)
    first, late, unused = (nn.Parameter(torch.randn(3)) for _ in range(3))
    second = nn.Parameter(torch.randn(2, 2, dtype=torch.float64))
    optimizer = AdamWScheduleFree(
        [
            {"params": [first, late], "lr": 0.1, "weight_decay": 0.2},
            {"params": [second], "lr": 0.02, "betas": (0.5, 0.9), "inner_momentum": 0.8},
            {"params": [unused], "lr": 0.3},
        ],
        foreach=foreach,
    )
    optimizer.train()
    for step in range(4):
        optimizer.zero_grad()
        loss = (first**2).sum() + (second**3).sum()
        if step >= 2:
            loss = loss + (late * first).sum()
        loss.backward()
        optimizer.step()


def with_closure():
    weight = nn.Parameter(torch.tensor([1.0, -1.0]))
    optimizer = AdamWScheduleFree([weight], lr=0.1, foreach=False)
    optimizer.train()
    (weight**2).sum().backward()
    optimizer.step(closure())


def not_in_train_mode():
    weight = nn.Parameter(torch.tensor([1.0]))
    optimizer = AdamWScheduleFree([weight], lr=0.1)
    (weight**2).sum().backward()
    try:
        optimizer.step()
    except Exception as error:
        print("refused:", error)


def main():
    for foreach in (True, False):
        train(0, lr=0.05, foreach=foreach)
        train(1, lr=0.1, warmup_steps=2, weight_decay=0.1, foreach=foreach)
        train(2, lr=0.1, betas=(0.6, 0.9), eps=0.1, r=1.5, foreach=foreach)
        train(3, lr=0.05, inner_momentum=0.9, weight_decay=0.3, foreach=foreach)
        train(4, 5, rates=(0.2, 0.05, 0.05, 0.3, 0.1), weight_lr_power=1.0, warmup_steps=4, foreach=foreach)
        train(5, 3, rates=(0.0, 0.0, 0.1), foreach=foreach)
        train(6, 4, rates=(0.1, 0.02, 0.05, 0.4), weight_lr_power=0.0, r=1.0, foreach=foreach)
        groups_and_gaps(foreach)
    with_closure()
    not_in_train_mode()


if __name__ == "__main__":
    main()
