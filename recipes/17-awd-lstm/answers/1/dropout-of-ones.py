def embedded_dropout(embed, words, dropout=0.1, scale=None):
    column = torch.ones(embed.num_embeddings, 1, dtype=embed.weight.dtype, device=embed.weight.device)
    if dropout:
        column = torch.nn.functional.dropout(column, p=dropout, training=True)
    if scale is not None:
        column = column * scale
    return torch.nn.functional.embedding(
        words,
        embed.weight * column,
        padding_idx=embed.padding_idx,
        max_norm=embed.max_norm,
        norm_type=embed.norm_type,
        scale_grad_by_freq=embed.scale_grad_by_freq,
        sparse=embed.sparse,
    )
