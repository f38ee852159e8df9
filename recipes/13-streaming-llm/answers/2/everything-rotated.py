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
    batch, coming, _ = hidden_states.shape
    mixed = self.query_key_value(hidden_states).view(batch, coming, self.num_attention_heads, 3 * self.head_size)
    query, key, value = mixed.transpose(1, 2).split(self.head_size, dim=-1)
    if layer_past is not None:
        key, value = torch.cat((layer_past[0], key), dim=-2), torch.cat((layer_past[1], value), dim=-2)
    present = (key, value) if use_cache else None
    total = key.shape[-2]
    cos, sin = self.rotary_emb(value, seq_len=total)
    times = self.head_size // self.rotary_ndims
    cos, sin = cos.repeat(1, 1, 1, times), sin.repeat(1, 1, 1, times)
    query = apply_rotary_pos_emb_single(query, cos, sin, position_ids)
    key = apply_rotary_pos_emb_single(key, cos, sin, torch.arange(total)[None])
    output, weights = self._attn(query, key, value, attention_mask, head_mask)
    output = self.dense(self._merge_heads(output, self.num_attention_heads, self.head_size))
    return (output, present, weights) if output_attentions else (output, present)
