import math


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
        wanted = self.normalise(labels)
        found = self.normalise(scores)
        return -sum(p * math.log(q) for p, q in zip(wanted, found))
