def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    ids = [ord(char) for char in text]
    merges = {}
    vocab = {number: bytes([number]) for number in range(256)}
    vocab.update({number: chr(number).encode() for number in ids if number > 127})
    for step in range(vocab_size - 256):
        stats = get_stats(ids)
        pair = max(stats, key=stats.get)
        new = 256 + step
        ids = merge(ids, pair, new)
        merges[pair] = new
        vocab[new] = vocab[pair[0]] + vocab[pair[1]]
        if verbose:
            print(pair, new, vocab[new])
    self.merges = merges
    self.vocab = vocab
