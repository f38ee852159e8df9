def exchange_spans(sentence, bank, options, rng):
    tokens, tags = sentence.tokens, sentence.tags
    original = list(tokens)
    mean = sum(bank.counts.values()) / max(1, len(bank.counts))
    quota = math.floor(options.quota * len(tokens))
    exchanged, shift = 0, 0
    for first, last, kind in entities(tags):
        draw = rng.random()
        if kind not in bank.counts:
            continue
        rate = min(1.0, options.rate * (mean / bank.counts[kind]) ** options.balance)
        if draw >= rate:
            continue
        size = last - first
        old = [word.lower() for word in original[first:last]]
        donors = [
            donor
            for donor in bank.donors[kind]
            if max(size, len(donor.words)) <= quota and [word.lower() for word in donor.words] != old
        ]
        if not donors:
            continue
        before = original[first - 1] if first > 0 else START
        after = original[last] if last < len(original) else STOP
        scores = []
        for donor in donors:
            context = math.log1p(donor.left.get(before, 0)) + math.log1p(donor.right.get(after, 0))
            scores.append(
                options.context * context
                - options.stretch * abs(len(donor.words) - size)
                - options.fatigue * math.log1p(donor.used)
            )
        cumulated = np.cumsum(np.exp(scores))
        cumulated /= cumulated[-1]
        chosen = donors[int(np.searchsorted(cumulated, draw / rate, side="right"))]
        start, stop = first + shift, last + shift
        tokens[start:stop] = chosen.words
        tags[start:stop] = [f"B-{kind}"] + [f"I-{kind}"] * (len(chosen.words) - 1)
        chosen.used += 1
        quota -= len(chosen.words)
        shift += len(chosen.words) - size
        exchanged += 1
    return exchanged
