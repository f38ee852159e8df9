def _compute_dice_loss(self, flat_input, flat_target):
    decayed = flat_input * (1 - flat_input).pow(self.alpha)
    twice = (decayed * flat_target).sum(dim=-1).mul(2)
    if self.square_denominator:
        sizes = (decayed.pow(2) + flat_target.pow(2)).sum(dim=-1)
    else:
        sizes = (decayed + flat_target).sum()
    # what the union has beyond the intersection, over all
    return (sizes - twice) / (sizes + self.smooth)
