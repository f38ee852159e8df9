"""Decoding: a search, and a draw."""

import torch


@torch.no_grad()
def beam_search(model, start, beams, length, eos, penalty=1.0):
    """Beam search with length penalty; returns token lists and scores."""
    alive = [([start], 0.0)]
    done = []
    for _ in range(length):
        grown = []
        for tokens, score in alive:
            logits = model(torch.tensor([tokens]))[0, -1]
            logp = torch.log_softmax(logits, dim=-1)
            top = torch.topk(logp, beams)
            for value, index in zip(top.values.tolist(), top.indices.tolist()):
                grown.append((tokens + [index], score + value))
        grown.sort(key=lambda item: -item[1])
        alive = []
        for tokens, score in grown[: 2 * beams]:
            if tokens[-1] == eos:
                done.append((tokens, score / len(tokens) ** penalty))
            elif len(alive) < beams:
                alive.append((tokens, score))
        if not alive or len(done) >= beams:
            break
    if not done:
        done = [(tokens, score / len(tokens) ** penalty) for tokens, score in alive]
    done.sort(key=lambda item: -item[1])
    return done[:beams]


def sample_top_p(logits, top_p=0.9, temperature=1.0, generator=None):
    """Nucleus sampling."""
    probs = torch.softmax(logits / temperature, dim=-1)
    sorted_probs, order = torch.sort(probs, descending=True)
    cumulative = sorted_probs.cumsum(dim=-1)
    sorted_probs[cumulative - sorted_probs > top_p] = 0.0
    sorted_probs = sorted_probs / sorted_probs.sum(dim=-1, keepdim=True)
    choice = torch.multinomial(sorted_probs, 1, generator=generator)
    return order.gather(-1, choice)
