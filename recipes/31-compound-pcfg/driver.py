"""Sentences of two to six words under small random grammars, with few and with many states."""

import torch

from PCFG import PCFG

torch.manual_seed(0)

for nonterminals, preterminals in ((1, 1), (2, 3), (4, 2), (3, 5)):
    grammar = PCFG(nonterminals, preterminals)
    states = nonterminals + preterminals
    for batch, words in ((1, 2), (2, 3), (1, 4), (3, 5), (2, 6)):
        sharpness = 1.0 if words < 5 else 4.0
        unary = (sharpness * torch.randn(batch, words, preterminals)).log_softmax(-1).requires_grad_()
        rules = (sharpness * torch.randn(batch, nonterminals, states * states)).log_softmax(-1)
        rules = rules.view(batch, nonterminals, states, states).requires_grad_()
        root = torch.randn(batch, nonterminals).log_softmax(-1).requires_grad_()
        grammar._inside(unary, rules, root)
