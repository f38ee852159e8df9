"""Trains MoCo for some steps with small encoders, in a process group of one, on the CPU."""

import torch
import torch.distributed as dist
from torch import nn

from moco.builder import MoCo


def small(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, num_classes))


def plain(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, num_classes))


def steps(encoder, size, number, seed, train=True, **options):
    torch.manual_seed(seed)
    model = MoCo(encoder, **options)
    with torch.no_grad():  # as after some training: both encoders differ
        for parameter in model.encoder_k.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    model.train(train)
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=0.5)
    for _ in range(number):
        views = torch.randn(2, size, 3, 2, 2)
        logits, labels = model(views[0], views[1] * 0.3 + views[0])
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}", int(model.queue_ptr))


def main():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    steps(small, 4, 3, 0, dim=6, K=8, m=0.9, T=0.2)
    steps(small, 3, 2, 1, dim=4, K=12, m=0.5, T=0.07)
    steps(plain, 2, 2, 2, dim=3, K=6, m=0.99, T=0.5)
    steps(small, 4, 1, 3, dim=6, K=4, m=0.0, T=1.0)
    steps(small, 4, 1, 4, train=False, dim=5, K=8, m=0.8, T=0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
