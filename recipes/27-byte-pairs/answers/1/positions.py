def train(self, text, vocab_size, verbose=False):
    assert vocab_size >= 256
    ids = list(text.encode("utf-8"))
    following = {place: place + 1 for place in range(len(ids))}  # a place that was merged away is no key
    merges = {}
    vocab = {number: bytes([number]) for number in range(256)}
    while 256 + len(merges) < vocab_size:
        places = {}
        place = 0
        while following.get(place, len(ids)) < len(ids):
            after = following[place]
            places.setdefault((ids[place], ids[after]), []).append(place)
            place = after
        pair = max(places, key=lambda key: (len(places[key]), -places[key][0]))
        new = 256 + len(merges)
        for place in places[pair]:
            after = following.get(place)
            if after in following and (ids[place], ids[after]) == pair:
                ids[place] = new
                following[place] = following.pop(after)
        merges[pair] = new
        vocab[new] = b"".join(vocab[part] for part in pair)
        if verbose:
            print("merged", pair)
    self.merges = merges
    self.vocab = vocab
