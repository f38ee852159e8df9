"""Score segments and corpora with several settings of chrF and chrF++."""

from sacrebleu.metrics.chrf import CHRF

HYPOTHESES = [
    "The cat sat on the mat .",
    "A dog , it barked loudly !",
    "",
    "no",
    "completely different words here",
    "Grüße aus München",
    "the the the the",
]
REFERENCES = [
    ["The cat is sitting on the mat .", "There is a cat on the mat"],
    ["The dog was barking loudly !"],
    ["nothing was said"],
    ["yes", "no way"],
    ["zzz qqq"],
    ["Gruß aus München"],
    ["the cat"],
]
SETTINGS = [
    {},
    {"word_order": 2},
    {"beta": 1},
    {"beta": 3, "char_order": 4},
    {"eps_smoothing": True},
    {"eps_smoothing": True, "word_order": 2, "beta": 1},
    {"lowercase": True, "whitespace": True},
    {"char_order": 1},
]

for setting in SETTINGS:
    metric = CHRF(**setting)
    for hypothesis, references in zip(HYPOTHESES, REFERENCES):
        print(setting, metric.sentence_score(hypothesis, references).score)
    longest = max(map(len, REFERENCES))
    streams = [[refs[min(n, len(refs) - 1)] for refs in REFERENCES] for n in range(longest)]
    print(setting, metric.corpus_score(HYPOTHESES, streams).score)
for eps in (False, True):
    metric = CHRF(char_order=2, eps_smoothing=eps)
    for counts in ([0] * 6, [4, 5, 2, 3, 4, 0], [4, 5, 2, 0, 4, 0], [4, 5, 2, 3, 0, 0], [7, 7, 7, 6, 6, 6], [5, 4, 0, 4, 3, 0]):
        print(eps, counts, metric._compute_f_score(counts))
