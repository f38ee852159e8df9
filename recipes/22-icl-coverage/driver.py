"""Choose demonstrations for queries with few and many aspects, from arrays and from dictionaries."""

import sys

sys.path.insert(0, "src/selector")

import numpy as np  # noqa: E402
from greedy import decomposed_coverage_greedy  # noqa: E402

rng = np.random.default_rng(7)


def show(*arguments, **options):
    print(decomposed_coverage_greedy(*arguments, **options))


def sparse(scores):
    return [{aspect: float(value) for aspect, value in enumerate(row) if value > 0.4} for row in scores]


# Scores as of BERTScore-Recall: every candidate covers every aspect a little.
for shape, k in [((8, 5), 3), ((12, 6), 4), ((5, 3), 5), ((6, 1), 4), ((1, 4), 1), ((30, 9), 8)]:
    scores = rng.random(shape)
    lengths = [int(length) for length in rng.integers(20, 90, shape[0])]
    show(k, scores)
    show(k, scores, add_cand_score=True)
    show(k, scores, True, 4)
    show(k, scores, cand_lens=lengths, max_len=150)
    show(k, scores, cand_lens=lengths)
    show(k, sparse(scores))
    show(k, sparse(scores), cand_lens=lengths, max_len=120)

# Recall of exact substructures: many ties, and covers that are complete soon.
for seed in range(4):
    ties = np.random.default_rng(seed).integers(0, 2, (9, 4)) / 4
    show(6, ties)
    show(4, ties, add_cand_score=True, cand_score_discount=2)
    show(6, [{a: float(v) for a, v in enumerate(row) if v} for row in ties])
    show(6, ties, cand_lens=[30, 10, 50, 20, 10, 40, 10, 60, 20], max_len=70)
show(3, np.array([[0.5, 0.0, 0.25], [0.5, 0.0, 0.25], [0.0, 1.0, 0.0], [0.5, 1.0, 0.25]]))
show(4, np.array([[0.5, 0.5], [0.5, 0.5], [0.25, 0.0], [0.0, 0.25]]), cand_lens=[5, 5, 5, 5], max_len=10)
show(2, np.array([[0.5, 0.5], [0.25, 1.0]]), cand_lens=[50, 60], max_len=40)
show(0, np.array([[1.0, 0.5]]))
show(3, [{0: 1.0, 2: 0.5}, {}, {1: 0.25}, {0: 0.5, 1: 0.75}], None, 1, None)
show(3, [{0: -0.5, 1: 2.0}, {0: 1.0, 1: 1.5}, {2: -1.0}, {1: 2.0}])
