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
    parts = self.query_key_value(hidden_states).unflatten(-1, (self.num_attention_heads, -1)).movedim(2, 1)
    query, key, value = parts.chunk(3, dim=-1)
    if layer_past is not None:
        key, value = (torch.cat((old, new), dim=2) for old, new in zip(layer_past, (key, value)))
    present = (key, value) if use_cache else None
    total, coming = key.shape[2], query.shape[2]
    cos, sin = self.rotary_emb(value, seq_len=total)

    def turn(x, positions):
        head, tail = x.split((self.rotary_ndims, x.shape[-1] - self.rotary_ndims), dim=-1)
        return torch.cat((apply_rotary_pos_emb_single(head, cos, sin, positions), tail), dim=-1)

    query = turn(query, position_ids)
    turned_key = turn(key, torch.arange(total, device=key.device).view(1, -1))
    scores = query @ turned_key.transpose(-1, -2) / self.head_size**0.5
    seen = torch.ones(coming, total, dtype=torch.bool, device=key.device).tril(total - coming)
    scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(dim=-1).to(value.dtype)
    if head_mask is not None:
        weights = weights * head_mask
    weights = self.attention_dropout(weights)
    output = self.dense((weights @ value).transpose(1, 2).flatten(2))
    return (output, present) + ((weights,) if output_attentions else ())
