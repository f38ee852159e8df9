def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    symbols = "".join(map(chr, text.encode("utf-8")))
    vocab = {number: bytes([number]) for number in range(256)}
    merges = {}
    for new in range(256, vocab_size):
        counts = {}
        for first, second in zip(symbols, symbols[1:]):
            counts[first + second] = counts.get(first + second, 0) + 1
        most = max(counts.values())
        best = next(pair for pair in counts if counts[pair] == most)
        symbols = symbols.replace(best, chr(new))
        left, right = map(ord, best)
        merges[left, right] = new
        vocab[new] = vocab[left] + vocab[right]
        if verbose:
            print(f"{new}: {vocab[new]!r}, {most} times")
    self.merges, self.vocab = merges, vocab
