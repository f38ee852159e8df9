"""Embedding dropout on small vocabularies: shares, shapes of the ids, padding, a scale, and a whole model in training."""

import torch
from torch import nn

from embed_regularize import embedded_dropout
from model import RNNModel


def embedding(seed, words, width, **options):
    torch.manual_seed(seed)
    return nn.Embedding(words, width, **options)


def call(embed, shape, dropout=None, scale=None):
    # Not the last word: the code says -1 for "no padding", which today's PyTorch takes for the last word.
    ids = torch.randint(0, embed.num_embeddings - 1, shape)
    result = embedded_dropout(embed, ids) if dropout is None else embedded_dropout(embed, ids, dropout, scale)
    result.square().sum().backward()


def language_model():
    torch.manual_seed(11)
    network = RNNModel("LSTM", 12, 6, 8, 2, dropoute=0.4, wdrop=0.0, tie_weights=True)
    ids = torch.randint(0, 11, (5, 2))
    for train in (True, False):
        network.train(train)
        result, _ = network(ids, network.init_hidden(2))
        result.sum().backward()


def main():
    call(embedding(0, 12, 3), (7, 4), 0.5)
    call(embedding(1, 10, 4), (30,), 0.1)
    call(embedding(2, 9, 2), (6, 3), 0.7, torch.tensor([[0.25]]))
    call(embedding(3, 8, 3), (5, 2), 0)
    call(embedding(4, 8, 3), (5, 2), 0, torch.tensor([[3.0]]))
    call(embedding(5, 30, 2), (4, 5))
    call(embedding(6, 7, 3, padding_idx=2), (10, 3), 0.3)
    call(embedding(8, 5, 3, padding_idx=1), (9, 4), 0)
    call(embedding(9, 6, 2, padding_idx=0), (8, 3), 0.15, torch.tensor([[2.0]]))
    call(embedding(10, 6, 3, scale_grad_by_freq=True), (11, 2), 0.2)
    call(embedding(12, 5, 2, scale_grad_by_freq=True, padding_idx=3), (14,), 0.1)
    call(embedding(7, 6, 4).double(), (3, 2, 2), 0.4)
    language_model()


if __name__ == "__main__":
    main()
