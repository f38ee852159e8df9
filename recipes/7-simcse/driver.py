"""Calls BertForCL, whose forward is cl_forward, with tiny random models and every pooler."""

import argparse

import torch
import torch.distributed as dist
from transformers import BertConfig

from src.models import BertForCL


def model(seed, pooler, temp=0.05, weight=0.0, mlm=None, dropout=0.0):
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=40,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=12,
        max_position_embeddings=12,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.6,
    )
    args = argparse.Namespace(
        pooler_type=pooler, temp=temp, hard_negative_weight=weight, do_mlm=mlm is not None, mlm_weight=mlm
    )
    return BertForCL(config, model_args=args)


def batch(size, sentences, length, generator):
    ids = torch.randint(5, 40, (size, sentences, length), generator=generator)
    mask = torch.ones_like(ids)
    for row in range(size):
        for which in range(sentences):
            real = int(torch.randint(3, length + 1, (1,), generator=generator))
            mask[row, which, real:] = 0
    ids[mask == 0] = 0
    return {"input_ids": ids, "attention_mask": mask}


def call(made, size, sentences, seed, train=True, mlm=False, kinds=False, **how):
    generator = torch.Generator().manual_seed(seed)
    given = batch(size, sentences, 7, generator)
    if kinds:
        given["token_type_ids"] = torch.randint(0, 2, given["input_ids"].shape, generator=generator)
    if mlm:
        chosen = torch.rand(given["input_ids"].shape, generator=generator) < 0.3
        given["mlm_labels"] = given["input_ids"].masked_fill(~chosen, -100)
        given["mlm_input_ids"] = given["input_ids"].masked_fill(chosen, 4)
    made.train(train)
    outputs = made(**given, **how)
    print(float(outputs[0]))


def main():
    call(model(0, "cls", temp=0.5, dropout=0.1), 4, 2, 0, return_dict=True)
    call(model(1, "cls", temp=0.4, weight=1.5), 3, 3, 1, return_dict=True)
    call(model(2, "avg", temp=0.3, weight=0.0), 3, 3, 2, kinds=True, return_dict=True)
    call(model(3, "cls_before_pooler", temp=0.2), 3, 2, 3, return_dict=False)
    call(model(4, "cls", temp=0.5, mlm=0.1), 3, 2, 4, mlm=True, kinds=True, return_dict=True)
    call(model(5, "avg_top2", temp=0.6), 4, 2, 5, train=False, return_dict=True)
    call(model(6, "avg_first_last", temp=0.5, weight=-0.7), 2, 3, 6, return_dict=False)
    call(model(7, "avg", temp=0.5, weight=0.8, mlm=0.5), 2, 3, 7, mlm=True, output_attentions=True)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    call(model(8, "cls", temp=0.5, weight=0.6), 3, 3, 8, return_dict=True)
    call(model(9, "cls", temp=0.7), 4, 2, 9, return_dict=True)
    call(model(10, "avg", temp=0.5), 3, 3, 10, train=False, return_dict=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
