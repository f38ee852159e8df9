def cl_forward(cls, encoder, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
               inputs_embeds=None, labels=None, output_attentions=None, output_hidden_states=None, return_dict=None,
               mlm_input_ids=None, mlm_labels=None):
    size, views = input_ids.size(0), input_ids.size(1)
    options = dict(
        attention_mask=attention_mask.flatten(0, 1),
        token_type_ids=None if token_type_ids is None else token_type_ids.flatten(0, 1),
        position_ids=position_ids,
        head_mask=head_mask,
        inputs_embeds=inputs_embeds,
        output_attentions=output_attentions,
        output_hidden_states=cls.model_args.pooler_type.startswith("avg_"),
        return_dict=True,
    )
    encoded = encoder(input_ids.flatten(0, 1), **options)
    encoded_masked = None if mlm_input_ids is None else encoder(mlm_input_ids.flatten(0, 1), **options)
    pooled = cls.pooler(options["attention_mask"], encoded)
    if cls.pooler_type == "cls":
        pooled = cls.mlp(pooled)
    of_view = [pooled[start::views] for start in range(views)]
    if cls.training and dist.is_initialized():
        gathered = []
        for own in of_view:
            parts = [torch.zeros_like(own) for _ in range(dist.get_world_size())]
            dist.all_gather(tensor_list=parts, tensor=own.contiguous())
            parts[dist.get_rank()] = own
            gathered.append(torch.cat(parts, 0))
        of_view = gathered
    rows, losses = [], []
    for place, anchor in enumerate(of_view[0]):
        row = torch.cat([cls.sim(anchor.expand_as(others), others) for others in of_view[1:]])
        if views == 3:
            extra = [0.0] * len(row)
            extra[len(of_view[0]) + place] = cls.model_args.hard_negative_weight
            row = row + torch.tensor(extra)
        rows.append(row)
        losses.append(-torch.log_softmax(row, 0)[place])
    similarities = torch.stack(rows)
    loss = sum(losses) / len(losses)
    if encoded_masked is not None and mlm_labels is not None:
        logs = cls.lm_head(encoded_masked.last_hidden_state).log_softmax(-1).flatten(0, 1)
        wanted = mlm_labels.flatten()
        kept = wanted != -100
        auxiliary = -logs[kept].gather(1, wanted[kept].unsqueeze(1)).mean()
        loss = loss + cls.model_args.mlm_weight * auxiliary
    as_object = cls.config.use_return_dict if return_dict is None else return_dict
    if not as_object:
        return (loss, similarities, *encoded[2:])
    return SequenceClassifierOutput(
        loss=loss, logits=similarities, hidden_states=encoded.hidden_states, attentions=encoded.attentions
    )
