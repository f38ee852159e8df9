"""Losses for learning to rank."""

import math


def sigmoid(value):
    """Logistic function."""
    return 1.0 / (1.0 + math.exp(-value))


def pairwise_loss(scores, labels, margin=1.0):
    """Mean smooth hinge over all ordered pairs of a list.

    Args:
        scores: one number for each document.
        labels: graded relevance of each document.
        margin: how far apart a pair has to be.

    Returns:
        The mean loss, and the share of pairs in the right order.
    """
    raise NotImplementedError


class ListLoss:
    """Cross entropy between the distributions of labels and of scores."""

    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def normalise(self, values):
        """Softmax of values at the temperature."""
        largest = max(values)
        exponentials = [math.exp((value - largest) / self.temperature) for value in values]
        total = sum(exponentials)
        return [value / total for value in exponentials]

    def forward(self, scores, labels):
        """Cross entropy of one list."""
        raise NotImplementedError
