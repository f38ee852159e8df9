"""Calls SSMix as the trainer does, with a small model whose gradients say how salient a token is."""

import argparse

import torch
from augmentation.ssmix import SSMix
from unit_test.fixtures import Classifier, Parallel


def batch(lengths, width, generator, second=None):
    """Texts with [CLS] and [SEP] at their ends, padded; `second` is where a second part begins."""
    size = len(lengths)
    ids = torch.zeros(size, width, dtype=torch.long)
    mask, kinds = torch.zeros_like(ids), torch.zeros_like(ids)
    for place, length in enumerate(lengths):
        ids[place, :length] = torch.randint(103, 140, (length,), generator=generator)
        ids[place, 0], ids[place, length - 1] = 101, 102
        mask[place, :length] = 1
        if second:
            kinds[place, second:length] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}


def call(lengths1, lengths2, share, seed, max_len=128, width=16, second=None):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Parallel(Classifier(words=140, width=6, labels=3))
    args = argparse.Namespace(
        model=model,
        criterion=torch.nn.CrossEntropyLoss(reduction="none"),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        device="cpu",
        ss_winsize=share,
        ss_no_saliency=False,
        ss_no_span=False,
    )
    input1, input2 = batch(lengths1, width, generator, second), batch(lengths2, width, generator)
    target1, target2 = (torch.randint(0, 3, (len(lengths1),), generator=generator) for _ in range(2))
    mixed, ratio = SSMix(args)(input1, input2, target1, target2, torch.tensor(lengths1), torch.tensor(lengths2), max_len)
    print((mixed["input_ids"] != input1["input_ids"]).sum().item(), ratio.tolist())


def main():
    call([12, 9, 14], [10, 13, 8], 30, 0)
    call([8, 15], [12, 7], 10, 1)
    call([5, 6, 16], [9, 12, 11], 50, 2)
    call([14, 10], [16, 12], 40, 3, max_len=8, second=5)
    call([16, 5, 9], [6, 9, 16], 70, 4)
    call([11, 8, 13, 6], [13, 12, 10, 11], 25, 5, second=4)
    call([16, 7], [5, 13], 45, 6, max_len=10)
    call([4, 5], [8, 9], 10, 7)


if __name__ == "__main__":
    main()
