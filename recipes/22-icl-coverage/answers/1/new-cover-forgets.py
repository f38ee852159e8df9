def decomposed_coverage_greedy(
    k, cand_partial_scores, add_cand_score=False, cand_score_discount=1, candidates=None,
    cand_lens=None, max_len=-1,
):
    comb, used, cover, score, resets = [], [], -np.inf, -np.inf, 0
    rem_len = max_len if max_len > 0 else 1000000
    while len(comb) < k:
        if isinstance(cand_partial_scores[0], dict):
            covers = cand_partial_scores if score == -np.inf else set_broadcasted_max(cand_partial_scores, cover)
            scores = np.array([sum(s.values()) for s in covers], dtype=float)
        else:
            covers = np.maximum(cand_partial_scores, cover)
            scores = covers.sum(axis=-1)
            if add_cand_score:
                scores = scores + cand_partial_scores.sum(axis=-1) / cand_score_discount
        scores[used] = -np.inf
        best = np.argmax(scores)
        if scores[best] > score:
            if cand_lens:
                rem_len -= cand_lens[best]
                if rem_len < 0:
                    break
            used = used + [best]
            comb, cover, score = comb + [best], covers[best], scores[best]
        else:
            used = []
            resets, cover, score = resets + 1, -np.inf, -np.inf
    return comb[::-1], {"n_reset": resets, "score": score}
