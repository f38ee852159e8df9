def decomposed_coverage_greedy(
    k, cand_partial_scores, add_cand_score=False, cand_score_discount=1, candidates=None,
    cand_lens=None, max_len=-1,
):
    rows = [
        dict(row) if isinstance(row, dict) else dict(enumerate(map(float, row))) for row in cand_partial_scores
    ]
    own = [0.0] * len(rows)
    if add_cand_score and not isinstance(cand_partial_scores[0], dict):
        own = [sum(row.values()) / cand_score_discount for row in rows]
    left = max_len if max_len > 0 else 1000000
    order, resets = [], 0
    best_of, reached = {}, float("-inf")

    def joined(row):
        both = dict(best_of)
        for aspect, score in row.items():
            both[aspect] = max(score, both.get(aspect, score))
        return both

    while len(order) < k:
        winner, winner_cover, winner_score = None, None, float("-inf")
        for number, row in enumerate(rows):
            if number in order:
                continue
            cover = joined(row)
            score = sum(cover.values()) + own[number]
            if score > winner_score:
                winner, winner_cover, winner_score = number, cover, score
        if winner_score > reached:
            if cand_lens:
                left -= cand_lens[winner]
                if left < 0:
                    break
            order.insert(0, winner)
            best_of, reached = winner_cover, winner_score
        else:
            resets += 1
            best_of, reached = {}, float("-inf")
    return order, {"n_reset": resets, "score": reached}
