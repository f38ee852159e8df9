def exchange_spans(sentence, bank, options, rng):
    total = len(sentence.tokens)
    budget = math.floor(options.quota * total)
    words, tags, position, count = [], [], 0, 0
    kinds = len(bank.counts)
    average = sum(bank.counts.values()) / kinds if kinds else 0

    def score(donor, left, right, size):
        seen = (1 + donor.left.get(left, 0)) * (1 + donor.right.get(right, 0))
        return (
            options.context * math.log(seen)
            - options.stretch * abs(size - len(donor.words))
            - options.fatigue * math.log(1 + donor.used)
        )

    for begin, end, kind in entities(sentence.tags):
        words += sentence.tokens[position:begin]
        tags += sentence.tags[position:begin]
        position = end
        old = sentence.tokens[begin:end]
        new, new_tags = old, sentence.tags[begin:end]
        xi = rng.random()
        number = bank.counts.get(kind, 0)
        p = min(1.0, options.rate * (average / number) ** options.balance) if number else 0.0
        if xi < p:
            text = " ".join(old).lower()
            candidates = [
                donor
                for donor in bank.donors[kind]
                if max(len(old), len(donor.words)) <= budget and " ".join(donor.words).lower() != text
            ]
            if candidates:
                left = words[-1] if words else START
                right = sentence.tokens[end] if end < total else STOP
                values = [score(donor, left, right, len(old)) for donor in candidates]
                top = max(values)
                shares = [math.exp(value - top) for value in values]
                pointer, reached = xi / p * sum(shares), 0.0
                for donor, share in zip(candidates, shares):
                    reached += share
                    if reached > pointer:
                        break
                new = list(donor.words)
                new_tags = ["B-" + kind] + ["I-" + kind for _ in new[1:]]
                donor.used += 1
                budget -= max(len(old), len(new))
                count += 1
        words += new
        tags += new_tags
    sentence.tokens[:] = words + sentence.tokens[position:]
    sentence.tags[:] = tags + sentence.tags[position:]
    return count
