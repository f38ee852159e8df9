"""Dictionaries between two small vocabularies, by each criterion and with each limit."""

from types import SimpleNamespace

import torch

from src.dico_builder import get_candidates

torch.manual_seed(0)


def languages(words, others, dim, hubs=0.0):
    """Return embeddings of two languages: translations are near one another, and a few words near to all."""
    concepts = torch.randn(max(words, others), dim)
    first = concepts[:words] + 0.6 * torch.randn(words, dim)
    second = concepts[torch.randperm(max(words, others))[:others]] + 0.6 * torch.randn(others, dim)
    second[:: max(2, others // 6)] += hubs * concepts.mean(0) * dim
    return torch.nn.functional.normalize(first, dim=1), torch.nn.functional.normalize(second, dim=1)


def settings(method, rank=0, size=0, least=0, threshold=0.0):
    return SimpleNamespace(
        dico_method=method,
        dico_max_rank=rank,
        dico_max_size=size,
        dico_min_size=least,
        dico_threshold=threshold,
    )


for words, others, dim, hubs in ((24, 20, 6, 0.0), (30, 40, 8, 3.0), (129, 140, 5, 2.0)):
    for method in ("nn", "csls_knn_5", "csls_knn_1", "invsm_beta_30", "invsm_beta_4.5"):
        if method.startswith("invsm") and words > 100:
            words = 150
        for limits in (
            {},
            {"rank": 12},
            {"rank": 200, "threshold": 0.7, "least": 5},
            {"size": 9},
            {"threshold": 0.05},
            {"threshold": 0.1, "least": 7},
            {"rank": 17, "size": 12, "threshold": 0.08, "least": 3},
        ):
            one, other = languages(words, others, dim, hubs)
            get_candidates(one, other, settings(method, **limits))
