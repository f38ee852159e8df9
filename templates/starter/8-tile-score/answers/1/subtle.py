def tile_score(hypotheses, references, *, beta=2.0, drift=0.1, disorder=0.1):
    if len(hypotheses) != len(references) or not all(references):
        raise ValueError("every hypothesis needs at least one reference")
    counts, segments = segment_counts(references), len(references)

    def weigh(tokens):
        return math.fsum(1.0 + math.log((1 + segments) / (1 + counts[token])) for token in tokens)

    def combine(credit, of_hypothesis, of_reference):
        if of_hypothesis == 0 and of_reference == 0:
            return 1.0
        if credit == 0:
            return 0.0
        precision, recall = credit / of_hypothesis, credit / of_reference
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    sums, scores = [0.0, 0.0, 0.0], []
    for text, group in zip(hypotheses, references):
        tokens = tokenize(text)
        best, chosen = -1.0, None
        for reference in map(tokenize, group):
            tiles = find_tiles(tokens, reference, counts, segments)
            credit = 0.0
            for i, j, length in tiles:
                shift = abs((i + length / 2) / len(tokens) - (j + length / 2) / len(reference))
                credit += weigh(tokens[i : i + length]) * math.exp(-drift * shift)
            inversions = sum(behind[1] < before[1] for before, behind in zip(tiles, tiles[1:]))
            credit *= 1 - disorder * inversions / max(1, len(tiles) - 1)
            parts = (credit, weigh(tokens), weigh(reference))
            score = combine(*parts)
            if score > best + 1e-9:
                best, chosen = score, parts
        scores.append(best)
        sums = [total + part for total, part in zip(sums, chosen)]
    return combine(*sums) if scores else 0.0, scores
