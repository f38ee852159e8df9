"""A tokenizer with the interface of the repository's, which needs Keras: words, and pieces of long words."""


class Pieces:
    """Splits words into pieces of four letters; an identifier is the sum of a piece's characters."""

    def tokenize(self, text):
        pieces = ["[CLS]"]
        for word in text.split():
            pieces += [word[start : start + 4] for start in range(0, len(word), 4)]
            pieces.append("[unused1]")
        return [*pieces, "[SEP]"]

    def encode(self, first):
        pieces = self.tokenize(first)
        return [sum(map(ord, piece)) % 997 for piece in pieces], [0] * len(pieces)


def tokenizer():
    """Stands for the attribute `tokenizer`."""
    return Pieces()
