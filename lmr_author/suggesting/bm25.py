"""Okapi BM25 with weighted fields, term by term, so that a score can be explained.

S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009: section 3.4 for the
score, 3.6 for fields (an occurrence in a field of weight w counts as w occurrences). The saturated frequency
of a term in a long query (k3) is Okapi's, TREC-3, 1994. Libraries (bm25s, rank-bm25) give a document's total
only, and take no weighted frequencies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

K1 = 1.2
"""Saturation of a term's frequency in a document."""
B = 0.5
"""Penalty of long documents, 0 to 1."""
K3 = 8.0
"""Saturation of a term's frequency in the query."""


class BM25:
    """Scores of documents, each given as its terms with their weighted frequencies."""

    def __init__(self, documents: Sequence[Mapping[str, float]]) -> None:
        self._documents = documents
        self._lengths = [sum(document.values()) for document in documents]
        self._average = sum(self._lengths) / len(documents) if documents else 0.0
        self._holding = Counter(term for document in documents for term in document)

    def idf(self, term: str) -> float:
        """Return the weight of a term: the rarer, the more. Never negative."""
        holding = self._holding[term]
        return math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))

    def parts(self, place: int, query: Mapping[str, float]) -> dict[str, float]:
        """Return what each term of the query adds to a document's score.

        Args:
            place: of the document.
            query: terms with their frequencies.
        """
        document, length = self._documents[place], self._lengths[place]
        norm = K1 * (1 - B + B * length / self._average) if self._average else K1
        found = {}
        for term, frequency in document.items():
            asked = query.get(term)
            if asked:
                saturated = frequency * (K1 + 1) / (frequency + norm)
                found[term] = self.idf(term) * saturated * asked * (K3 + 1) / (asked + K3)
        return found
