def _binary_class(self, input, target, mask=None):
    scores = input.reshape(-1)
    probability = scores.sigmoid() if self.with_logits else scores
    positive = target.reshape(-1) > 0.5
    label = target.reshape(-1).to(torch.float32)
    seen = torch.ones_like(positive)
    zero = torch.zeros_like(probability)
    if mask is not None:
        seen = mask.reshape(-1) > 0.5
        probability = torch.where(seen, probability, zero)
        label = torch.where(seen, label, zero)
    if self.ohem_ratio > 0:
        negatives = probability[~positive]
        wanted = min(int((positive & seen).sum().item() * self.ohem_ratio), negatives.numel())
        position = 1 - wanted
        rank = position + 1 if position >= 0 else negatives.numel() + position + 1
        threshold = negatives.kthvalue(rank).values
        stays = positive | (probability > threshold)
        probability = torch.where(stays, probability, zero)
        label = torch.where(stays, label, zero)
    return self._compute_dice_loss(probability, label)
