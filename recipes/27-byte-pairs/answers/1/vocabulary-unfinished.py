def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    ids = list(text.encode("utf-8"))
    merges = {}
    vocab = {number: bytes([number]) for number in range(256)}
    for step in range(vocab_size - 256):
        stats = get_stats(ids)
        pair = max(stats, key=stats.get)
        new = 256 + step
        ids = merge(ids, pair, new)
        merges[pair] = new
        vocab[new] = bytes(number % 256 for number in pair)
        if verbose:
            print(pair, new, vocab[new])
    self.merges = merges
    self.vocab = vocab
