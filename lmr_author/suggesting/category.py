"""Guess the benchmark's category of a function; a person confirms it."""

from __future__ import annotations

import re
from collections import Counter

from lmr_author.suggesting.passages import FunctionWords
from lmr_author.suggesting.terms import split

BEGINNINGS = {
    "Feature Learning & Representation": "embed represent encod featur pool similarit quantiz codebook latent",
    "Neural Network Architectures": "attention transformer layer forward conv gate rnn lstm positional head mlp block",
    "Prompt Engineering & Instruction Tuning": "prompt instruct template demonstration incontext verbaliz exemplar",
    "Information Extraction": "entit relation extract ner span mention tag coref crf viterbi parse triple",
    "Data Augmentation": "augment noise mixup paraphras synonym swap corrupt perturb synthetic",
    "Training Objectives & Optimization": (
        "loss objectiv optim gradient regulariz contrastiv reward penalt margin prune entropy divergence policy step"
    ),
    "Decoding & Search Strategies": "decod search beam sampl generat logit token greedy rerank nucleus",
    "Evaluation Metrics": "metric score evaluat bleu rouge accuracy precision recall f1 perplexit correlation",
    "Interpretability & Explainability": "explain interpret attribut salienc rationale probe rollout causal relevance",
}
"""Beginnings of words that speak for a category."""

_NAME, _OTHER = 4.0, 1.0


def likely_category(function: FunctionWords) -> str:
    """The category that a function's names and texts speak for most; "" when they speak for none."""
    scores: Counter[str] = Counter()
    named = [function.name, *function.class_name.split(".")]
    for weight, words in ((_NAME, _words(named)), (_OTHER, _words([*function.parameters, *function.texts]))):
        for category, beginnings in BEGINNINGS.items():
            hits = sum(any(word.startswith(start) for start in beginnings.split()) for word in words)
            scores[category] += weight * min(hits, 3)  # type: ignore[assignment]
    best, score = max(scores.items(), key=lambda item: item[1])
    return best if score else ""


def _words(texts: list[str]) -> set[str]:
    found = (part for text in texts for word in re.findall(r"\w+", text) for part in split(word))
    return {word.lower() for word in found}
