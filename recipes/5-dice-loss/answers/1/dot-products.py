def _compute_dice_loss(self, flat_input, flat_target):
    def inner(one, other):
        return torch.einsum("...i,...i->...", one, other)

    soft = torch.pow(torch.ones_like(flat_input) - flat_input, self.alpha) * flat_input
    ones = torch.ones_like(soft)
    above = self.smooth + inner(soft, flat_target) + inner(flat_target, soft)
    if self.square_denominator:
        below = inner(soft, soft) + inner(flat_target, flat_target)
    else:
        below = inner(soft + flat_target, ones).sum()
    return -(above / (below + self.smooth) - 1)
