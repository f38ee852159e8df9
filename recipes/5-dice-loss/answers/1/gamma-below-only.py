def _compute_dice_loss(self, flat_input, flat_target):
    decayed = (1 - flat_input) ** self.alpha * flat_input
    top = 2 * (decayed * flat_target).sum(-1)
    if self.square_denominator:
        below = (decayed ** 2).sum(-1) + (flat_target ** 2).sum(-1) + self.smooth
    else:
        below = decayed.sum() + flat_target.sum() + self.smooth
    return 1 - top / below
