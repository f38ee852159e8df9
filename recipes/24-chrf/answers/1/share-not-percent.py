def _compute_f_score(self, statistics: List[int]) -> float:
    weight = self.beta**2
    triples = list(zip(statistics[0::3], statistics[1::3], statistics[2::3]))[: self.order]

    def f_score(precision, recall, empty):
        below = weight * precision + recall
        return (1 + weight) * precision * recall / below if below > 0 else empty

    if self.eps_smoothing:
        scores = []
        for hyp, ref, match in triples:
            precision = match / hyp if hyp > 0 else 1e-16
            recall = match / ref if ref > 0 else 1e-16
            scores.append(f_score(precision, recall, 1e-16))
        return sum(scores) / self.order
    used = [(match / hyp, match / ref) for hyp, ref, match in triples if hyp > 0 and ref > 0]
    if not used:
        return 0.0
    precision = sum(p for p, _ in used) / len(used)
    recall = sum(r for _, r in used) / len(used)
    return f_score(precision, recall, 0.0)
