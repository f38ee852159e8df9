def exchange_spans(sentence, bank, options, rng):
    exchanged = 0
    for start, stop, kind in entities(sentence.tags):
        draw = rng.uniform()
        rate = min(1.0, options.rate * (bank.mean / bank.counts[kind]) ** options.balance)
        if draw >= rate:
            continue
        donor = bank.draw(kind, draw / rate, before=sentence.tokens[start - 1], after=sentence.tokens[stop])
        sentence.replace(start, stop, donor.words)
        exchanged += 1
    return exchanged
