def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    ids = list(text.encode("utf-8"))
    merges = {}
    vocab = {number: bytes([number]) for number in range(256)}
    for step in range(vocab_size):
        stats = get_stats(ids)
        if not stats:
            break
        pair = max(stats, key=stats.get)
        new = 256 + step
        ids = merge(ids, pair, new)
        merges[pair] = new
        vocab[new] = vocab[pair[0]] + vocab[pair[1]]
        if verbose:
            print(pair, new, vocab[new])
    self.merges = merges
    self.vocab = vocab
