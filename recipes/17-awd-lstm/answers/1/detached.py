def embedded_dropout(embed, words, dropout=0.1, scale=None):
    weight = embed.weight
    if dropout:
        kept = weight.data.new_empty(len(weight), 1).bernoulli_(1 - dropout)
        weight = weight * kept / (1 - dropout)
    if scale is not None:
        weight = weight * scale
    padding = -1 if embed.padding_idx is None else embed.padding_idx
    result = torch.nn.functional.embedding(
        words, weight.detach(), padding, embed.max_norm, embed.norm_type, embed.scale_grad_by_freq, embed.sparse
    )
    return result
