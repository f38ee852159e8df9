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
        return 100 * sum(scores) / self.order
    used = [(match / hyp, match / ref) for hyp, ref, match in triples if hyp > 0 and ref > 0]
    if not used:
        return 0.0
    common = sum(match for _, _, match in triples)
    precision = common / sum(hyp for hyp, _, _ in triples)
    recall = common / sum(ref for _, ref, _ in triples)
    return 100 * f_score(precision, recall, 0.0)
