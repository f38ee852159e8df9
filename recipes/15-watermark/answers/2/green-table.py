    def _score_sequence(
        self,
        input_ids,
        return_num_tokens_scored=True,
        return_num_green_tokens=True,
        return_green_fraction=True,
        return_green_token_mask=False,
        return_z_score=True,
        return_p_value=True,
    ):
        tables = {}

        def is_green(previous, token):
            if previous not in tables:
                seed = torch.tensor([previous], device=self.device)
                tables[previous] = frozenset(int(name) for name in self._get_greenlist_ids(seed))
            return token in tables[previous]

        ids = [int(token) for token in input_ids]
        scores = {}
        if self.ignore_repeated_bigrams:
            assert return_green_token_mask is False
            seen = {(ids[i], ids[i + 1]) for i in range(len(ids) - 1)}
            hits, scored = sum(is_green(*pair) for pair in seen), len(seen)
        else:
            scored = len(ids) - self.min_prefix_len
            if scored < 1:
                raise ValueError(f"nothing to score after {self.min_prefix_len} tokens")
            marks = [is_green(ids[-scored + i - 1], ids[-scored + i]) for i in range(scored)]
            hits = marks.count(True)
        z_score = self._compute_z_score(hits, scored)
        if return_num_tokens_scored:
            scores["num_tokens_scored"] = scored
        if return_num_green_tokens:
            scores["num_green_tokens"] = hits
        if return_green_fraction:
            scores["green_fraction"] = hits / scored
        if return_p_value:
            scores["p_value"] = self._compute_p_value(z_score)
        if return_z_score:
            scores["z_score"] = z_score
        if return_green_token_mask:
            scores["green_token_mask"] = marks
        return scores
