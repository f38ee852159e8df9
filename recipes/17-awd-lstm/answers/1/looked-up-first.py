def embedded_dropout(embed, words, dropout=0.1, scale=None):
    factor = 1.0 if scale is None else scale.reshape(())
    if dropout > 0:
        kept = torch.empty(embed.num_embeddings, 1, dtype=embed.weight.dtype, device=embed.weight.device)
        kept.bernoulli_(1.0 - dropout)
        factor = factor * kept[words] / (1.0 - dropout)
    return embed(words) * factor
