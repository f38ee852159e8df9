"""The cache while tokens come in, for each layout of keys and values; attention of a tiny GPT-NeoX with random weights."""

import torch
from transformers import GPTNeoXConfig
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXAttention

from streaming_llm.kv_cache import StartRecentKVCache
from streaming_llm.pos_shift import modify_gpt_neox


def cache_of(layers, length, key_dim=2, value_dim=2, heads=2, size=3):
    """Keys and values in which each number says where it is."""
    shape = {1: (1, length, size), 2: (1, heads, length, size), 3: (1, heads, size, length)}
    values = []
    for layer in range(layers):
        key, value = (torch.arange(torch.Size(shape[dim]).numel()).reshape(shape[dim]) for dim in (key_dim, value_dim))
        values.append((key + 1000.0 * layer, -value - 1000.0 * layer))
    return values


def make_room():
    cache = StartRecentKVCache(start_size=2, recent_size=5)
    for length, coming in ((3, 1), (6, 1), (7, 1), (7, 3), (9, 2), (12, 1), (20, 4), (8, 0), (5, 3), (9, 5)):
        cache.evict_for_space(cache_of(2, length), coming)
    cache.evict_for_space(None, 3)
    StartRecentKVCache(start_size=0, recent_size=4).evict_for_space(cache_of(1, 6), 2)
    for key_dim, value_dim in ((3, 2), (1, 1)):
        other = StartRecentKVCache(1, 4, k_seq_dim=key_dim, v_seq_dim=value_dim)
        other.evict_for_space(cache_of(3, 7, key_dim, value_dim), 2)
        other.evict_for_space(cache_of(2, 4, key_dim, value_dim), 1)


def attention(seed, rotary_pct):
    torch.manual_seed(seed)
    config = GPTNeoXConfig(
        vocab_size=11,
        hidden_size=16,
        num_attention_heads=2,
        num_hidden_layers=1,
        intermediate_size=8,
        rotary_pct=rotary_pct,
        max_position_embeddings=32,
        use_cache=True,
    )
    layer = GPTNeoXAttention(config).eval()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.normal_(std=0.5)
    return layer


def stream(seed, rotary_pct, batch=1, output_attentions=False):
    """A prompt, then tokens one by one, while tokens in the middle leave the cache."""
    layer = attention(seed, rotary_pct)
    call = modify_gpt_neox.gpt_neox_pos_shift_attention_forward
    cache = StartRecentKVCache(start_size=1, recent_size=4)
    with torch.no_grad():
        _, past = call(layer, torch.randn(batch, 4, 16), None, torch.arange(4)[None], use_cache=True)[:2]
        for coming in (1, 1, 2):
            (past,) = cache.evict_for_space([past], coming)
            length = past[0].size(2)
            positions = torch.arange(length, length + coming)[None]
            hidden = torch.randn(batch, coming, 16)
            result = call(
                layer, hidden, None, positions, None, tuple(past), use_cache=True, output_attentions=output_attentions
            )
            past = result[1]


def options():
    layer = attention(9, 0.5)
    call = modify_gpt_neox.gpt_neox_pos_shift_attention_forward
    with torch.no_grad():
        hidden = torch.randn(2, 3, 16)
        mask = torch.zeros(2, 1, 1, 3)
        mask[0, 0, 0, 0] = torch.finfo(torch.float32).min
        left_padded = torch.tensor([[1, 0, 1], [0, 1, 2]])
        call(layer, hidden, mask, left_padded, output_attentions=True)
        call(layer, hidden, None, torch.arange(3)[None], head_mask=torch.tensor([1.0, 0.0])[:, None, None])


def main():
    make_room()
    stream(0, 0.5)
    stream(1, 1.0, batch=2)
    stream(2, 0.25, output_attentions=True)
    options()


if __name__ == "__main__":
    main()
