def _compute_f_score(self, statistics: List[int]) -> float:
    """Compute the chrF score given the n-gram match statistics."""
    from fractions import Fraction

    triples = [statistics[start : start + 3] for start in range(0, 3 * self.order, 3)]
    weight = self.beta * self.beta

    def f_score(precision, recall):
        if not precision or not recall:
            return None
        return (1 + weight) / (1 / precision + weight / recall)

    if self.eps_smoothing:
        total = 0
        for hyp, ref, match in triples:
            precision = Fraction(match, hyp) if hyp else Fraction(1, 10**16)
            recall = Fraction(match, ref) if ref else Fraction(1, 10**16)
            if precision == recall == 0:
                total += Fraction(1, 10**16)
            else:
                total += f_score(precision, recall) or 0
        return float(100 * total / self.order)
    pairs = [(Fraction(m, h), Fraction(m, r)) for h, r, m in triples if h > 0 and r > 0]
    if not pairs:
        return 0.0
    precision = sum(p for p, _ in pairs) / len(pairs)
    recall = sum(r for _, r in pairs) / len(pairs)
    return float(100 * (f_score(precision, recall) or 0))
