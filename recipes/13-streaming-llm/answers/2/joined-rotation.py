def gpt_neox_pos_shift_attention_forward(
    self,
    hidden_states,
    attention_mask,
    position_ids,
    head_mask=None,
    layer_past=None,
    use_cache=False,
    output_attentions=False,
):
    heads, size, turned = self.num_attention_heads, self.head_size, self.rotary_ndims
    mixed = self.query_key_value(hidden_states)
    mixed = mixed.reshape(*mixed.shape[:2], heads, 3, size).permute(3, 0, 2, 1, 4)
    query, key, value = mixed.unbind(0)
    if layer_past is not None:
        key = torch.cat([layer_past[0], key], 2)
        value = torch.cat([layer_past[1], value], 2)
    cached = (key, value) if use_cache else None
    cosines, sines = self.rotary_emb(value, seq_len=key.size(2))
    cosines, sines = cosines.reshape(-1, turned), sines.reshape(-1, turned)

    def at(x, positions):
        cos, sin = cosines[positions].unsqueeze(1), sines[positions].unsqueeze(1)
        first, second = x[..., : turned // 2], x[..., turned // 2 : turned]
        swapped = torch.cat([-second, first], -1)
        return torch.cat([x[..., :turned] * cos + swapped * sin, x[..., turned:]], -1)

    places = torch.arange(key.size(2), device=key.device).unsqueeze(0)
    output, weights = self._attn(at(query, position_ids), at(key, places), value, attention_mask, head_mask)
    output = self.dense(self._merge_heads(output, heads, size))
    outputs = [output, cached]
    if output_attentions:
        outputs.append(weights)
    return tuple(outputs)
