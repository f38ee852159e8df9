import torch


def closure():
    """A loss that shows whether it was computed with gradients enabled."""

    def loss():
        return 2.5 if torch.is_grad_enabled() else -1.0

    return loss
