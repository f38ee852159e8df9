def compute_v(model, tok, request, hparams, layer, left_vector, context_templates):
    nethook.set_requires_grad(False, model)
    ids = tok(request["target_new"]["str"])["input_ids"]
    texts = [template.format(request["prompt"]) + tok.decode(ids[:-1]) for template in context_templates]
    texts.append("{} is a")
    places = [find_fact_lookup_idx(text, request["subject"], tok, hparams.fact_token, verbose=False) for text in texts]
    batch = tok([text.format(request["subject"]) for text in texts], padding=True, return_tensors="pt").to("cuda")
    module = hparams.mlp_module_tmp.format(layer)

    def run(change):
        kept = {}

        def edit(output, name):
            kept["clean"] = output[0, places[0]].detach().clone()
            mask = torch.zeros(output.shape[:2], device=output.device)
            for row, place in enumerate(places):
                mask[row, place] = 1
            return output + mask[:, :, None] * change

        with nethook.TraceDict(module=model, layers=[module], edit_output=edit):
            scores = model(**batch).logits.log_softmax(-1)
        return scores, kept["clean"]

    change = torch.zeros(model.config.n_embd, device="cuda")
    first = second = torch.zeros_like(change)
    essence = None
    for time in range(1, hparams.v_num_grad_steps + 1):
        change = change.detach().requires_grad_(True)
        scores, clean = run(change)
        new = scores[-1, places[-1]]
        essence = new.detach() if essence is None else essence
        loss = hparams.kl_factor * torch.sum(torch.exp(new) * (new - essence))
        for row in range(len(context_templates)):
            end = int(batch["attention_mask"][row].sum())
            for back, token in enumerate(reversed(ids), 1):
                loss = loss - scores[row, end - back, token] / len(ids) / len(context_templates)
        loss = loss + hparams.v_weight_decay * torch.norm(change) / clean.dot(clean)
        if loss < 0.05 or time == hparams.v_num_grad_steps:
            break
        (slope,) = torch.autograd.grad(loss, change)
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        step = (first / (1 - 0.9**time)) / ((second / (1 - 0.999**time)).sqrt() + 1e-8)
        change = (change - hparams.v_lr * step).detach()
        bound = hparams.clamp_norm_factor * clean.norm()
        change = change * torch.clamp(bound / change.norm(), max=1.0)
    key, output = get_module_input_output_at_word(
        model,
        tok,
        layer,
        context_template=request["prompt"],
        word=request["subject"],
        module_template=hparams.rewrite_module_tmp,
        fact_token_strategy=hparams.fact_token,
    )
    return (clean + change - output) / torch.sum(key * left_vector)
