"""Layers of attention with relative positions: with and without memory, masks, normalization before or after."""

import sys

sys.path[:0] = ["pytorch", "pytorch/utils"]

import torch

from mem_transformer import PositionalEmbedding, RelPartialLearnableMultiHeadAttn

torch.manual_seed(0)
MODEL = 8
POSITIONS = PositionalEmbedding(MODEL)


def later(queries, keys, same_length):
    """Keys after each query are left out, and with same_length those too far before it."""
    ones = torch.ones(queries, keys)
    mask = torch.triu(ones, diagonal=1 + keys - queries)
    if same_length:
        mask = mask + torch.tril(ones, -1)
    return mask.to(torch.bool)[:, :, None]


def masks(queries, keys, batch):
    """Masks with which no query sees a key after it."""
    plain = later(queries, keys, False)
    yield plain
    yield later(queries, keys, True)
    own = plain.repeat(1, 1, batch)
    own[:, 0, -1] = queries < keys  # the last sequence is shorter
    yield own
    if queries == 1:
        yield None
        yield torch.zeros(keys, batch).to(torch.bool)
        padding = torch.zeros(keys, batch)
        padding[:2, 0] = 1
        yield padding.to(torch.bool)


for pre_lnorm in (False, True):
    for heads, size, dropout in ((2, 4, 0.0), (1, 8, 0.0), (4, 3, 0.3)):
        layer = RelPartialLearnableMultiHeadAttn(
            heads, MODEL, size, dropout / 2, dropatt=dropout, pre_lnorm=pre_lnorm
        )
        for parameter in layer.layer_norm.parameters():
            torch.nn.init.normal_(parameter)
        layer.train(dropout > 0)
        u = torch.nn.Parameter(torch.randn(heads, size))
        v = torch.nn.Parameter(torch.randn(heads, size))
        for queries, remembered, batch in ((5, 0, 2), (4, 3, 1), (1, 6, 2), (3, 2, 3)):
            keys = queries + remembered
            distances = POSITIONS(torch.arange(keys - 1, -1, -1.0))
            for mask in masks(queries, keys, batch):
                segment = torch.randn(queries, batch, MODEL, requires_grad=True)
                memory = torch.randn(remembered, batch, MODEL) if remembered else None
                layer(segment, distances, u, v, attn_mask=mask, mems=memory)
