def _compute_f_score(self, statistics: List[int]) -> float:
    import numpy as np

    hyp, ref, both = np.array(statistics, dtype=float).reshape(-1, 3)[: self.order].T
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hyp > 0, both / hyp, 1e-16)
        recall = np.where(ref > 0, both / ref, 1e-16)
        if self.eps_smoothing:
            below = self.beta**2 * precision + recall
            scores = np.where(below > 0, (1 + self.beta**2) * precision * recall / below, 1e-16)
            return float(100 * scores.sum() / self.order)
    use = (hyp > 0) & (ref > 0)
    if not use.any():
        return 0.0
    p, r = precision[use].mean(), recall[use].mean()
    if p + r == 0:
        return 0.0
    return float(100 * (1 + self.beta**2) * p * r / (self.beta**2 * p + r))
