def embedded_dropout(embed, words, dropout=0.1, scale=None):
    vectors = torch.nn.functional.embedding(words, embed.weight, embed.padding_idx)
    if dropout:
        kept = embed.weight.data.new_empty((*words.shape, 1)).bernoulli_(1 - dropout)
        vectors = vectors * kept / (1 - dropout)
    return vectors if scale is None else vectors * scale
