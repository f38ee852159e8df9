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
    before = 0 if layer_past is None else layer_past[0].shape[-2]
    total = before + coming
    cos, sin = self.rotary_emb(value, seq_len=total)
    turned = self.rotary_ndims

    def rotate(x, positions):
        head, tail = x[..., :turned], x[..., turned:]
        return torch.cat((apply_rotary_pos_emb_single(head, cos, sin, positions), tail), dim=-1)

    query = rotate(query, position_ids)
    key = rotate(key, position_ids)
    if layer_past is not None:
        key, value = torch.cat((layer_past[0], key), dim=-2), torch.cat((layer_past[1], value), dim=-2)
    present = (key, value)
    weights_input = (query, key, value)
    output, weights = self._attn(*weights_input, attention_mask, head_mask)
    output = self.dense(self._merge_heads(output, self.num_attention_heads, self.head_size))
    result = (output, present if use_cache else None)
    return (*result, weights) if output_attentions else result
