def forward(self, features, labels=None, mask=None):
    if features.dim() < 3:
        raise ValueError("features need a batch, views, and something to compare")
    if labels is not None and mask is not None:
        raise ValueError("labels or mask, not both")
    if self.contrast_mode not in ("one", "all"):
        raise ValueError(self.contrast_mode)
    z = features.flatten(2)
    n, views, _ = z.shape
    if labels is not None:
        labels = labels.reshape(-1)
        if len(labels) != n:
            raise ValueError("one label for each sample")
        same = labels[:, None] == labels[None, :]
    elif mask is not None:
        same = mask
    else:
        same = torch.eye(n)
    same = same.to(z.dtype)
    anchors = z[:, :1] if self.contrast_mode == "one" else z
    k = anchors.shape[1]
    # scores[i, v, j, w]: anchor v of sample i with view w of sample j
    scores = torch.einsum("ivd,jwd->ivjw", anchors, z) / self.temperature
    itself = torch.zeros(n, k, n, views, dtype=torch.bool)
    for view in range(k):
        itself[torch.arange(n), view, torch.arange(n), view] = True
    log_all = scores.masked_fill(itself, float("-inf")).flatten(2).logsumexp(-1)
    weight = same[:, None, :, None] * (~itself)
    count = weight.sum((2, 3))
    total = (weight * (log_all[:, :, None, None] - scores)).sum((2, 3))
    each = total / count.clamp(min=1)
    return each.mean() * self.temperature / self.base_temperature
