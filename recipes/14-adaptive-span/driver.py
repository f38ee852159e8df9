"""Blocks of attention with fixed and learned spans, trimmed memories, short caches and persistent memory."""

import torch

from adaptive_span import AdaptiveMask
from models import SeqAttention

WIDTH = 4


def mask(seed, max_size, ramp, init=None, distances=None, heads=2, rows=3, queries=2):
    """A mask as near the start (one value for all heads), or after some training; not at a kink of the ramp."""
    generator = torch.Generator().manual_seed(seed)
    layer = AdaptiveMask(max_size, ramp, init or 0, shape=(heads, 1, 1))
    if init is None:
        layer.current_val.data = torch.rand(heads, 1, 1, generator=generator)
    x = torch.rand(rows, heads, queries, distances or max_size, generator=generator, requires_grad=True)
    layer(x).square().sum().backward()


def layer_of(seed, span, ramp=3, values=None, memory=0, dropout=0.0, heads=2, enabled=True):
    torch.manual_seed(seed)
    adaptive = {
        "adapt_span_enabled": enabled,
        "adapt_span_loss": 0.1,
        "adapt_span_ramp": ramp,
        "adapt_span_init": 0,
        "adapt_span_cache": True,
    }
    layer = SeqAttention(WIDTH, heads, span, dropout, adaptive, {"pers_mem_size": memory})
    if values is not None:
        layer.adaptive_span._mask.current_val.data = torch.tensor(values).view(heads, 1, 1)
    return layer.eval() if not dropout else layer.train()


def attend(layer, block, cache, batch=2, heads=2):
    rows = batch * heads
    query = torch.randn(rows, block, WIDTH, requires_grad=True)
    key, value = (torch.randn(rows, cache + block, WIDTH, requires_grad=True) for _ in range(2))
    position = torch.randn(1, WIDTH, layer.attn_span, requires_grad=True)
    layer(query, key, value, position).sum().backward()


def main():
    mask(0, 8, 3)
    mask(1, 8, 3, distances=5)
    mask(2, 10, 4, init=0.47)
    mask(3, 6, 2, init=0.01)
    mask(6, 5, 2, distances=3, rows=6, queries=7)
    mask(4, 12, 5, heads=3)
    mask(5, 5, 20)
    attend(layer_of(0, 6, enabled=False), 3, 6)
    attend(layer_of(1, 6, values=[0.31, 0.77]), 3, 6)
    attend(layer_of(2, 8, ramp=2, values=[0.07, 0.4]), 4, 8, batch=1)
    attend(layer_of(3, 70, values=[0.015, 0.02]), 2, 70)
    attend(layer_of(4, 70, values=[0.015, 0.03]), 3, 4, batch=1)
    attend(layer_of(5, 70, values=[0.5, 0.91]), 2, 20, batch=1)
    attend(layer_of(6, 6, memory=3, values=[0.31, 0.77]), 3, 6)
    attend(layer_of(7, 5, memory=2, enabled=False), 2, 5)
    attend(layer_of(8, 6, values=[0.6, 0.8], dropout=0.4), 3, 6)


if __name__ == "__main__":
    main()
