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
        tokens = input_ids.tolist()
        start = self.min_prefix_len
        if self.ignore_repeated_bigrams:
            assert not return_green_token_mask, "no mask without repeats"
            pairs = list(dict.fromkeys(zip(tokens, tokens[1:])))
        else:
            pairs = [(tokens[place - 1], tokens[place]) for place in range(start, len(tokens))]
        mask = []
        for before, token in pairs:
            prefix = torch.tensor([before], device=self.device)
            mask.append(token in self._get_greenlist_ids(prefix).tolist())
        total, green = len(pairs), sum(mask)
        z = self._compute_z_score(green, total) if total else 0.0
        values = {
            "num_tokens_scored": (return_num_tokens_scored, total),
            "num_green_tokens": (return_num_green_tokens, green),
            "green_fraction": (return_green_fraction, green / total if total else 0.0),
            "z_score": (return_z_score, z),
            "p_value": (return_p_value, self._compute_p_value(z)),
            "green_token_mask": (return_green_token_mask, mask),
        }
        return {name: value for name, (wanted, value) in values.items() if wanted}
