def cl_forward(cls, encoder, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
               inputs_embeds=None, labels=None, output_attentions=None, output_hidden_states=None, return_dict=None,
               mlm_input_ids=None, mlm_labels=None):
    return_dict = cls.config.use_return_dict if return_dict is None else return_dict
    size, views = input_ids.shape[:2]
    mask = attention_mask.flatten(0, 1)
    kinds = None if token_type_ids is None else token_type_ids.flatten(0, 1)

    def encode(ids):
        return encoder(ids.flatten(0, 1), attention_mask=mask, token_type_ids=kinds, position_ids=position_ids,
                       head_mask=head_mask, inputs_embeds=inputs_embeds, output_attentions=output_attentions,
                       output_hidden_states=cls.model_args.pooler_type in ("avg_top2", "avg_first_last"), return_dict=True)

    outputs = encode(input_ids)
    masked = encode(mlm_input_ids) if mlm_input_ids is not None else None
    pooled = cls.pooler(mask, outputs).view(size, views, -1)
    if cls.pooler_type == "cls":
        pooled = cls.mlp(pooled)
    anchors, positives = pooled[:, 0], pooled[:, 1]
    scores = cls.sim(anchors.unsqueeze(1), positives.unsqueeze(0))
    if views == 3:
        negatives = cls.sim(anchors, pooled[:, 2])
        weight = cls.model_args.hard_negative_weight
        negatives = (negatives + weight).unsqueeze(1)
        scores = torch.cat([scores, negatives], 1)
    loss = F.cross_entropy(scores, torch.arange(size))
    if masked is not None and mlm_labels is not None:
        words = cls.lm_head(masked.last_hidden_state).view(-1, cls.config.vocab_size)
        loss = loss + cls.model_args.mlm_weight * F.cross_entropy(words, mlm_labels.view(-1))
    if not return_dict:
        return (loss, scores) + outputs[2:]
    return SequenceClassifierOutput(loss=loss, logits=scores, hidden_states=outputs.hidden_states, attentions=outputs.attentions)
