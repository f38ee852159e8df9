"""Acceptance of candidates for random scores, and texts of a tiny Llama with Medusa heads and random weights."""

import torch
from transformers import LlamaConfig

from medusa.model import medusa_model
from medusa.model.utils import evaluate_posterior
from unit_test import fixtures

TREE = [[0], [1], [2], [0, 0], [0, 1], [1, 0], [0, 0, 0], [0, 0, 1]]
SMALL_TREE = [[0], [0, 0]]


class GivenTokenizer:
    """In place of transformers' AutoTokenizer, which would ask the network."""

    @staticmethod
    def from_pretrained(name):
        return fixtures.tokenizer()


def candidates_and_scores(seed, rows=4, length=4, words=9, sharp=1.0, agree=0.5):
    """Candidates that begin with the same token and follow the scores' favourites more or less far."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, length, words, generator=generator) * sharp
    candidates = torch.randint(0, words, (rows, length), generator=generator)
    candidates[:, 0] = candidates[0, 0]
    follow = torch.rand(rows, length - 1, generator=generator) < agree
    candidates[:, 1:] = torch.where(follow, logits[:, :-1].argmax(-1), candidates[:, 1:])
    return logits, candidates


def sampled_candidates(seed, rows, length, sharp, words=9):
    """Candidates that are drawn from the scores, so that bounds decide over them."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(1, length, words, generator=generator).repeat(rows, 1, 1) * sharp
    drawn = torch.multinomial(logits[0].softmax(-1), rows, replacement=True, generator=generator).T
    return logits, torch.cat([torch.zeros(rows, 1, dtype=torch.long), drawn[:, :-1]], dim=1)


def accept():
    evaluate_posterior(*candidates_and_scores(0), 0)
    evaluate_posterior(*candidates_and_scores(1, rows=6, length=5, agree=0.8), 0)
    evaluate_posterior(*candidates_and_scores(2, agree=0.0), 0.0)
    evaluate_posterior(*candidates_and_scores(3, rows=1, length=3, agree=1.0), 0)
    for seed in range(6):
        scores = candidates_and_scores(10 + seed, rows=5, length=5, sharp=0.5 + seed, agree=0.7)
        evaluate_posterior(*scores, 0.7)
        evaluate_posterior(*scores, 1.5, posterior_threshold=0.09, posterior_alpha=0.3)
        evaluate_posterior(*scores, 1.0, posterior_threshold=0.2, posterior_alpha=0.9)
    evaluate_posterior(*candidates_and_scores(30, sharp=4.0, agree=0.0), 1.0)
    for seed in range(4):
        scores = sampled_candidates(60 + seed, rows=7, length=6, sharp=1.0 + seed)
        evaluate_posterior(*scores, 1.0, posterior_threshold=0.3, posterior_alpha=4.0)
        evaluate_posterior(*scores, 0.9, posterior_threshold=0.05, posterior_alpha=3.0)
        evaluate_posterior(*scores, 1.2, posterior_threshold=0.9, posterior_alpha=0.3)
        evaluate_posterior(*scores, 1.0)
    torch.manual_seed(5)
    for seed in range(3):
        scores = candidates_and_scores(40 + seed, rows=6, sharp=3.0, agree=0.9)
        evaluate_posterior(*scores, 0.8, sampling="nucleus", top_p=0.6)
        evaluate_posterior(*scores, 1.0, sampling="nucleus", top_p=1.0)
    try:
        evaluate_posterior(*candidates_and_scores(50), 1.0, sampling="beam")
    except NotImplementedError:
        print("no such sampling")


def tiny_model(seed):
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(fixtures.WORDS),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=96,
    )
    config.medusa_num_heads, config.medusa_num_layers = 5, 1
    model = medusa_model.MedusaModelLlama(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.6)
    return model


def texts(model, prompt, **options):
    for step in model.medusa_generate(torch.tensor([prompt]), **options):
        print(step["text"])


def main():
    accept()
    medusa_model.AutoTokenizer = GivenTokenizer
    torch.manual_seed(0)
    texts(tiny_model(0), [2, 3], medusa_choices=TREE, max_steps=5)
    texts(tiny_model(1), [4, 5, 6], medusa_choices=TREE, max_steps=8)
    texts(tiny_model(2), [2], medusa_choices=SMALL_TREE, max_steps=4, temperature=0.9)
    texts(tiny_model(3), [9, 1, 10], medusa_choices=TREE, max_steps=5, temperature=0.7, posterior_alpha=0.05)
    texts(tiny_model(4), [8, 2], medusa_choices=TREE, max_steps=4, temperature=1.0, posterior_threshold=0.5)
    for seed in (21, 22):
        texts(tiny_model(seed), [8, 2], medusa_choices=TREE, max_steps=4, temperature=1.0, posterior_threshold=0.9, posterior_alpha=0.2)
    for top_p in (0.2, 0.7, 1.0):
        options = dict(temperature=1.5, sampling="nucleus", fast=False, top_p=top_p)
        texts(tiny_model(5), [7], medusa_choices=TREE, max_steps=5, **options)
    again = tiny_model(23)
    for prompt, tree in (([4, 5], TREE), ([6], TREE), ([4, 5, 7], SMALL_TREE)):
        texts(again, prompt, medusa_choices=tree, max_steps=3)
    texts(tiny_model(6), [12, 9], max_steps=3)
    for seed in range(7, 16):
        texts(tiny_model(seed), [3, 4], medusa_choices=TREE, max_steps=12)


if __name__ == "__main__":
    main()
