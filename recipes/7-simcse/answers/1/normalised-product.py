def cl_forward(cls, encoder, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
               inputs_embeds=None, labels=None, output_attentions=None, output_hidden_states=None, return_dict=None,
               mlm_input_ids=None, mlm_labels=None):
    if return_dict is None:
        return_dict = cls.config.use_return_dict
    instances, sentences, length = input_ids.shape
    layers = cls.model_args.pooler_type in ("avg_top2", "avg_first_last")
    attention_mask = attention_mask.reshape(-1, length)
    if token_type_ids is not None:
        token_type_ids = token_type_ids.reshape(-1, length)

    def encode(ids):
        return encoder(
            ids.reshape(-1, ids.shape[-1]), attention_mask=attention_mask, token_type_ids=token_type_ids,
            position_ids=position_ids, head_mask=head_mask, inputs_embeds=inputs_embeds,
            output_attentions=output_attentions, output_hidden_states=layers, return_dict=True,
        )

    outputs = encode(input_ids)
    masked = encode(mlm_input_ids) if mlm_input_ids is not None else None
    vectors = cls.pooler(attention_mask, outputs).unflatten(0, (instances, sentences))
    if cls.pooler_type == "cls":
        vectors = cls.mlp(vectors)
    views = list(vectors.unbind(1))
    if dist.is_initialized() and cls.training:
        for place, view in enumerate(views):
            everywhere = [torch.zeros_like(view) for _ in range(dist.get_world_size())]
            dist.all_gather(everywhere, view.contiguous())
            everywhere[dist.get_rank()] = view
            views[place] = torch.cat(everywhere)
    candidates = torch.cat(views[1:])
    scores = cls.sim(views[0][:, None], candidates[None])
    if sentences == 3:
        number = len(views[0])
        bonus = torch.zeros_like(scores)
        bonus[:, number:].fill_diagonal_(cls.model_args.hard_negative_weight)
        scores = scores + bonus
    loss = (scores.logsumexp(1) - scores.diagonal()).mean()
    if masked is not None and mlm_labels is not None:
        words = cls.lm_head(masked.last_hidden_state).flatten(0, 1)
        loss = loss + cls.model_args.mlm_weight * F.cross_entropy(words, mlm_labels.reshape(-1))
    if return_dict:
        return SequenceClassifierOutput(
            loss=loss, logits=scores, hidden_states=outputs.hidden_states, attentions=outputs.attentions
        )
    return (loss, scores) + outputs[2:]
