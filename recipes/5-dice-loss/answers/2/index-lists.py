def _binary_class(self, input, target, mask=None):
    values = [torch.sigmoid(value) if self.with_logits else value for value in input.flatten().unbind()]
    truth = [int(value) for value in target.flatten()]
    shown = [bool(value) for value in mask.flatten()] if mask is not None else [True] * len(values)
    values = [value if there else value * 0 for value, there in zip(values, shown)]
    kept = set(range(len(values)))
    if self.ohem_ratio > 0:
        positives = sum(1 for one, there in zip(truth, shown) if one and there)
        others = sorted(float(value) for value, one in zip(values, truth) if not one)
        count = min(int(positives * self.ohem_ratio), len(others))
        border = others[1 - count]
        kept = {place for place, value in enumerate(values) if truth[place] or float(value) > border}
    probabilities = torch.stack([value if place in kept else value * 0 for place, value in enumerate(values)])
    labels = [float(one and there and place in kept) for place, (one, there) in enumerate(zip(truth, shown))]
    return self._compute_dice_loss(probabilities, torch.tensor(labels))
