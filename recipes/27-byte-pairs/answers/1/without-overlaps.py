def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    ids = list(text.encode("utf-8"))
    merges = {}
    vocab = {number: bytes([number]) for number in range(256)}
    for step in range(vocab_size - 256):
        stats, last = {}, {}
        for i, found in enumerate(zip(ids, ids[1:])):
            if last.get(found) != i - 1 or found[0] != found[1]:
                stats[found] = stats.get(found, 0) + 1
                last[found] = i
        pair = max(stats, key=stats.get)
        new = 256 + step
        ids = merge(ids, pair, new)
        merges[pair] = new
        vocab[new] = vocab[pair[0]] + vocab[pair[1]]
        if verbose:
            print(pair, new, vocab[new])
    self.merges = merges
    self.vocab = vocab
