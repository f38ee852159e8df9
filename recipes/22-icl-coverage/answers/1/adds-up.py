def decomposed_coverage_greedy(
    k, cand_partial_scores, add_cand_score=False, cand_score_discount=1, candidates=None,
    cand_lens=None, max_len=-1,
):
    if isinstance(cand_partial_scores[0], dict):
        own = np.array([sum(s.values()) for s in cand_partial_scores], dtype=float)
    else:
        own = cand_partial_scores.sum(axis=-1)
    extra = own / cand_score_discount if add_cand_score else 0 * own
    comb, score, resets = [], -np.inf, 0
    rem_len = max_len if max_len > 0 else 1000000
    while len(comb) < k:
        scores = (own if score == -np.inf else score + own) + extra
        scores[comb] = -np.inf
        best = np.argmax(scores)
        if scores[best] > score:
            if cand_lens:
                rem_len -= cand_lens[best]
                if rem_len < 0:
                    break
            comb, score = comb + [best], scores[best]
        else:
            resets, score = resets + 1, -np.inf
    return comb[::-1], {"n_reset": resets, "score": score}
