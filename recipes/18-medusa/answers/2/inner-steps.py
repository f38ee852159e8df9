    def medusa_generate(
        self,
        input_ids,
        attention_mask=None,
        temperature=0.0,
        max_steps=512,
        medusa_choices=None,
        posterior_threshold=0.09,
        posterior_alpha=0.3,
        top_p=0.8,
        sampling="typical",
        fast=True,
    ):
        assert input_ids.shape[0] == 1, "one text at a time"
        if medusa_choices is None:
            medusa_choices = self.get_medusa_choice(self.base_model_name_or_path)
        if not hasattr(self, "medusa_choices") or self.medusa_choices != medusa_choices:
            self.medusa_buffers = generate_medusa_buffers(medusa_choices, device=self.base_model.device)
        self.medusa_choices = medusa_choices
        if not hasattr(self, "past_key_values"):
            (
                self.past_key_values,
                self.past_key_values_data,
                self.current_length_data,
            ) = initialize_past_key_values(self.base_model)
        else:
            self.current_length_data.fill_(0)
        mask, nodes, depths, paths = (
            self.medusa_buffers[name]
            for name in ("medusa_attn_mask", "tree_indices", "medusa_position_ids", "retrieve_indices")
        )
        length = input_ids.shape[1]

        def steps():
            reset_medusa_mode(self)
            tokens = input_ids
            heads, scores = initialize_medusa(tokens, self, mask, self.past_key_values)
            for _ in range(max_steps):
                options, flat = generate_candidates(
                    heads, scores, nodes, paths, temperature, posterior_threshold, posterior_alpha, top_p, sampling, fast
                )
                heads, scores, outputs = tree_decoding(self, flat, self.past_key_values, depths, tokens, paths)
                row, more = evaluate_posterior(
                    scores, options, temperature, posterior_threshold, posterior_alpha, top_p, sampling, fast
                )
                # The accepted nodes' keys and values move to the end of the text.
                kept = paths[row, : more + 1] + tokens.shape[1]
                moved = self.past_key_values_data[..., kept, :].clone()
                end = tokens.shape[1] + len(kept)
                self.past_key_values_data[..., tokens.shape[1] : end, :] = moved
                self.current_length_data.fill_(end)
                tokens = torch.cat((tokens, options[row, : more + 1].unsqueeze(0)), dim=1)
                scores, heads = scores[row, more].view(1, 1, -1), heads[:, row, more][:, None, None]
                yield tokens[0, length:]

        for new in steps():
            yield dict(
                text=self.tokenizer.decode(
                    new,
                    skip_special_tokens=True,
                    spaces_between_special_tokens=False,
                    clean_up_tokenization_spaces=True,
                )
            )
            if (new == self.tokenizer.eos_token_id).any():
                break
