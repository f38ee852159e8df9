def _binary_class(self, input, target, mask=None):
    probability = input.view(-1)
    probability = torch.sigmoid(probability) if self.with_logits else probability
    positive = target.view(-1) > 0.5
    label = target.view(-1).float()
    seen = torch.ones_like(label)
    if mask is not None:
        seen = mask.view(-1).float()
        seen = torch.ones_like(seen)
    if self.ohem_ratio > 0:
        negatives = probability[~positive].sort().values
        number = int((positive * seen).sum())
        wanted = min(int(number * self.ohem_ratio), len(negatives))
        stays = (probability > negatives[1 - wanted]) | positive
        probability = probability * stays
        label = label * stays
    return self._compute_dice_loss(probability, label)
