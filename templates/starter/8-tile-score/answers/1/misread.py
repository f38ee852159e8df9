def tile_score(hypotheses, references, *, beta=2.0, drift=0.1, disorder=0.1):
    """METEOR with tiles as chunks; the corpus has the mean of its segments."""
    if len(hypotheses) != len(references) or not all(references):
        raise ValueError("every hypothesis needs at least one reference")
    counts, total = segment_counts(references), len(references)

    def weigh(tokens):
        return sum(1.0 + math.log((1 + total) / (1 + counts[token])) for token in tokens)

    def score(tokens, reference):
        if not tokens and not reference:
            return 1.0
        tiles = find_tiles(tokens, reference, counts, total)
        if not tiles:
            return 0.0
        credit = sum(
            weigh(tokens[i : i + m]) * math.exp(-drift * abs(i / len(tokens) - j / len(reference))) for i, j, m in tiles
        )
        precision, recall = credit / weigh(tokens), credit / weigh(reference)
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        fragmentation = (len(tiles) - 1) / max(1, sum(m for _, _, m in tiles) - 1)
        return f * (1 - disorder * fragmentation)

    scores = [
        max(score(tokenize(text), tokenize(reference)) for reference in group)
        for text, group in zip(hypotheses, references)
    ]
    return (sum(scores) / len(scores) if scores else 0.0), scores
