def forward(self, features, labels=None, mask=None):
    if features.ndim < 3:
        raise ValueError("too few dimensions")
    size, views = features.shape[:2]
    if labels is not None:
        if mask is not None:
            raise ValueError("both labels and mask")
        labels = labels.flatten().tolist()
        if len(labels) != size:
            raise ValueError("number of labels")
        positive = [[float(a == b) for b in labels] for a in labels]
    elif mask is not None:
        positive = mask.float().tolist()
    else:
        positive = [[float(a == b) for b in range(size)] for a in range(size)]
    if self.contrast_mode == "all":
        anchor_views = range(views)
    elif self.contrast_mode == "one":
        anchor_views = range(1)
    else:
        raise ValueError("mode")
    vectors = {(i, v): features[i, v].reshape(-1) for i in range(size) for v in range(views)}
    losses = []
    for v in anchor_views:
        for i in range(size):
            others = [key for key in vectors if key != (i, v)]
            logits = torch.stack([vectors[i, v] @ vectors[key] for key in others]) / self.temperature
            logs = torch.log_softmax(logits, 0)
            weights = torch.tensor([positive[i][j] for j, _ in others])
            if weights.sum() > 0:
                losses.append(-(weights * logs).sum() / weights.sum())
            else:
                losses.append(0.0 * logs.sum())
    return torch.stack(losses).mean() * (self.temperature / self.base_temperature)
