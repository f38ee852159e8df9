def forward(self, features, labels=None, mask=None):
    if features.dim() < 3:
        raise ValueError("features need at least three dimensions")
    if labels is not None and mask is not None:
        raise ValueError("labels or mask, not both")
    if self.contrast_mode not in ("one", "all"):
        raise ValueError(self.contrast_mode)
    n, views = features.shape[:2]
    if labels is not None:
        labels = labels.reshape(-1)
        if len(labels) != n:
            raise ValueError("one label for each sample")
        same = (labels[:, None] == labels[None, :]).float()
    elif mask is not None:
        same = mask.float()
    else:
        same = torch.eye(n)
    z = features.flatten(2).transpose(0, 1).flatten(0, 1)
    k = views if self.contrast_mode == "all" else 1
    scores = z[: k * n] @ z.T / self.temperature
    others = 1 - torch.eye(k * n, views * n)
    weight = same.repeat(k, views) * others
    count = weight.sum(1)
    top = scores.max(1, keepdim=True).values.detach()
    exp = (scores - top).exp()
    negatives = (exp * others * (1 - same.repeat(k, views))).sum(1, keepdim=True)
    logs = scores - top - (negatives + 1e-12).log()
    each = -(weight * logs).sum(1) / count.clamp(min=1)
    return (self.temperature / self.base_temperature) * each.mean()
