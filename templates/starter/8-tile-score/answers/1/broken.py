def tile_score(hypotheses, references, weights, *, beta=2.0, drift=0.1, disorder=0.1):
    scores = []
    for text, group in zip(hypotheses, references):
        tiles = [find_tiles(text.split(), other.split()) for other in group]
        scores.append(max(sum(weights[i] for i, _, _ in found) for found in tiles))
    return sum(scores) / len(scores), scores
