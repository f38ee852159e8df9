def decomposed_coverage_greedy(
    k, cand_partial_scores, add_cand_score=False, cand_score_discount=1, candidates=None,
    cand_lens=None, max_len=-1,
):
    from_dicts = isinstance(cand_partial_scores[0], dict)
    if from_dicts:
        aspects = sorted({aspect for row in cand_partial_scores for aspect in row})
        table = np.full((len(cand_partial_scores), max(1, len(aspects))), -np.inf)
        for row, scores in enumerate(cand_partial_scores):
            for column, aspect in enumerate(aspects):
                if aspect in scores:
                    table[row, column] = scores[aspect]
    else:
        table = np.asarray(cand_partial_scores)
    extra = np.zeros(len(table))
    if add_cand_score and not from_dicts:
        extra = table.sum(axis=1) / cand_score_discount
    budget = max_len if max_len > 0 else 1_000_000
    chosen, cover, value, resets = [], np.full(table.shape[1], -np.inf), -np.inf, 0
    while len(chosen) < k:
        covers = np.maximum(table, cover)
        totals = np.where(np.isneginf(covers), 0.0, covers).sum(axis=1) + extra
        free = [place for place in range(len(table)) if place not in chosen]
        best = max(free, key=lambda place: totals[place])
        if totals[best] <= value:
            resets, cover, value = resets + 1, np.full(table.shape[1], -np.inf), -np.inf
            continue
        if cand_lens:
            budget -= cand_lens[best]
            if budget < 0:
                break
        chosen.append(best)
        cover, value = covers[best], totals[best]
    return chosen[::-1], {"n_reset": resets, "score": value}
