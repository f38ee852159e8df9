"""Calls KTOTrainer.loss with log-probabilities of tokens, as get_batch_metrics does."""

import torch
from accelerate import Accelerator
from omegaconf import OmegaConf
from train.trainers import KTOTrainer


def tokens(size, length, generator, shift=0.0, grad=False):
    made = -torch.rand(size, length, generator=generator) * 2 + shift
    for row in range(size):
        made[row, 1 + int(torch.randint(1, length, (1,), generator=generator)) :] = 0
    return made.requires_grad_(grad)


def call(accelerator, chosen, rejected, seed, beta=0.1, desirable=1.0, undesirable=1.0, shift=0.0, dtype=torch.float32):
    trainer = KTOTrainer.__new__(KTOTrainer)
    trainer.accelerator = accelerator
    trainer.policy_dtype = dtype
    trainer.config = OmegaConf.create(
        {"loss": {"beta": beta, "desirable_weight": desirable, "undesirable_weight": undesirable}}
    )
    generator = torch.Generator().manual_seed(seed)
    total, length = chosen + rejected, 7
    policy = [tokens(size, length, generator, grad=size > 0) for size in (chosen, rejected)]
    reference = [tokens(size, length, generator) for size in (chosen, rejected)]
    mismatched = tokens(total, length, generator, shift, grad=True)
    losses, *others = trainer.loss({}, *policy, mismatched, *reference, tokens(total, length, generator))
    losses.mean().backward()
    print(losses.tolist(), others[-1].item())


def main():
    accelerator = Accelerator(cpu=True)
    call(accelerator, 3, 2, 0, shift=0.4)
    call(accelerator, 2, 4, 1, beta=0.5, desirable=1.33, undesirable=0.8, shift=0.6)
    call(accelerator, 4, 0, 2, beta=0.3, shift=0.3)
    call(accelerator, 0, 3, 3, beta=0.2, undesirable=1.5, shift=0.5)
    call(accelerator, 2, 2, 4, beta=1.0, shift=-1.0)
    call(accelerator, 1, 1, 5, beta=0.7, desirable=0.5, undesirable=2.0)
    call(accelerator, 5, 3, 6, beta=0.4, desirable=0.7, undesirable=1.2, shift=0.2)


if __name__ == "__main__":
    main()
