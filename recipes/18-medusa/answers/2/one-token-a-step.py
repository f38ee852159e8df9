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
        ids = input_ids.clone()
        tree = self.get_medusa_choice(self.base_model_name_or_path) if medusa_choices is None else medusa_choices
        if getattr(self, "medusa_choices", None) != tree:
            self.medusa_buffers = generate_medusa_buffers(tree, device=self.base_model.device)
            self.medusa_choices = tree
        buffers = self.medusa_buffers
        if hasattr(self, "past_key_values"):
            self.current_length_data.zero_()
        else:
            made = initialize_past_key_values(self.base_model)
            self.past_key_values, self.past_key_values_data, self.current_length_data = made
        prompt = ids.shape[1]
        reset_medusa_mode(self)
        heads, logits = initialize_medusa(ids, self, buffers["medusa_attn_mask"], self.past_key_values)
        count = 0
        how = dict(
            posterior_threshold=posterior_threshold,
            posterior_alpha=posterior_alpha,
            top_p=top_p,
            sampling=sampling,
            fast=fast,
        )
        for step in range(max_steps):
            start = ids.shape[1]
            candidates, nodes = generate_candidates(
                heads, logits, buffers["tree_indices"], buffers["retrieve_indices"], temperature=temperature, **how
            )
            heads, logits, outputs = tree_decoding(
                self, nodes, self.past_key_values, buffers["medusa_position_ids"], ids, buffers["retrieve_indices"]
            )
            best, accepted = evaluate_posterior(logits, candidates, temperature, **how)
            accepted = torch.zeros_like(accepted)
            ids, logits, heads, count = update_inference_inputs(
                ids,
                candidates,
                best,
                accepted,
                buffers["retrieve_indices"],
                outputs,
                logits,
                heads,
                count,
                self.past_key_values_data,
                self.current_length_data,
            )
            text = self.tokenizer.decode(
                ids[0, prompt:],
                skip_special_tokens=True,
                spaces_between_special_tokens=False,
                clean_up_tokenization_spaces=True,
            )
            yield {"text": text}
            if self.tokenizer.eos_token_id in ids[0, prompt:].tolist():
                return
