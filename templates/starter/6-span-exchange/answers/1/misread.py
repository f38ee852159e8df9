def exchange_spans(sentence, bank, options, rng):
    """Mention replacement: a coin for each entity, then a donor drawn from the softmax of the scores."""
    mean = sum(bank.counts.values()) / max(1, len(bank.counts))
    quota = math.floor(options.quota * len(sentence.tokens))
    exchanged = 0
    for start, stop, kind in reversed(entities(sentence.tags)):
        if kind not in bank.counts:
            continue
        rate = min(1.0, options.rate * (mean / bank.counts[kind]) ** options.balance)
        if rng.random() >= rate:
            continue
        old = tuple(sentence.tokens[start:stop])
        donors = [donor for donor in bank.donors[kind] if donor.words != old and len(donor.words) <= quota]
        if not donors:
            continue
        before = sentence.tokens[start - 1] if start else START
        after = sentence.tokens[stop] if stop < len(sentence.tokens) else STOP
        scores = np.array(
            [
                options.context * (np.log1p(donor.left.get(before, 0)) + np.log1p(donor.right.get(after, 0)))
                - options.stretch * abs(len(donor.words) - len(old))
                - options.fatigue * np.log1p(donor.used)
                for donor in donors
            ]
        )
        shares = np.exp(scores - scores.max())
        donor = donors[rng.choice(len(donors), p=shares / shares.sum())]
        sentence.tokens[start:stop] = donor.words
        sentence.tags[start:stop] = [f"B-{kind}", *[f"I-{kind}"] * (len(donor.words) - 1)]
        donor.used += 1
        quota -= len(donor.words)
        exchanged += 1
    return exchanged
