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
        choices = medusa_choices
        if choices is None:
            choices = self.get_medusa_choice(self.base_model_name_or_path)
        try:
            fresh = self.medusa_choices != choices
        except AttributeError:
            fresh = True
        if fresh:
            self.medusa_choices = choices
            self.medusa_buffers = generate_medusa_buffers(choices, device=self.base_model.device)
        tree = self.medusa_buffers
        try:
            self.current_length_data.zero_()
        except AttributeError:
            names = ("past_key_values", "past_key_values_data", "current_length_data")
            for name, value in zip(names, initialize_past_key_values(self.base_model)):
                setattr(self, name, value)
        reset_medusa_mode(self)
        heads, _, logits = self(
            input_ids, past_key_values=self.past_key_values, output_orig=True, medusa_forward=True
        )
        self.base_model.model.medusa_mask = tree["medusa_attn_mask"]
        state = {"input_ids": torch.clone(input_ids), "logits": logits, "medusa_logits": heads, "new_token": 0}
        done = 0
        while done < max_steps:
            done += 1
            paths = tree["retrieve_indices"]
            found, nodes = generate_candidates(
                medusa_logits=state["medusa_logits"],
                logits=state["logits"],
                tree_indices=tree["tree_indices"],
                retrieve_indices=paths,
                temperature=temperature,
                posterior_threshold=posterior_threshold,
                posterior_alpha=posterior_alpha,
                top_p=top_p,
                sampling=sampling,
                fast=fast,
            )
            heads, logits, outputs = tree_decoding(
                model=self,
                tree_candidates=nodes,
                past_key_values=self.past_key_values,
                medusa_position_ids=tree["medusa_position_ids"],
                input_ids=state["input_ids"],
                retrieve_indices=paths,
            )
            choice = evaluate_posterior(
                logits, found, temperature, posterior_threshold, posterior_alpha, top_p, sampling, fast
            )
            values = update_inference_inputs(
                state["input_ids"],
                found,
                *choice,
                paths,
                outputs,
                logits,
                heads,
                state["new_token"],
                self.past_key_values_data,
                self.current_length_data,
            )
            state = dict(zip(("input_ids", "logits", "medusa_logits", "new_token"), values))
            new = state["input_ids"][0, input_ids.shape[1] :].tolist()
            options = {"skip_special_tokens": True, "spaces_between_special_tokens": False}
            yield {"text": self.tokenizer.decode(new, clean_up_tokenization_spaces=True, **options)}
            if self.tokenizer.eos_token_id in new:
                done = max_steps
