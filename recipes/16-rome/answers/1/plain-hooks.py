def compute_v(model, tok, request, hparams, layer, left_vector, context_templates):
    device = next(model.parameters()).device
    target = tok(request["target_new"]["str"], return_tensors="pt")["input_ids"][0].to(device)
    start = tok.decode(target[:-1])
    rewriting = [template.format(request["prompt"]) + start for template in context_templates]
    prompts = rewriting + ["{} is a"]
    batch = tok([p.format(request["subject"]) for p in prompts], return_tensors="pt", padding=True).to(device)
    lengths = batch["attention_mask"].sum(1)
    labels = torch.full_like(batch["input_ids"][:-1], -100)
    for row, length in enumerate(lengths[:-1].tolist()):
        labels[row, length - len(target) : length] = target
    places = [find_fact_lookup_idx(p, request["subject"], tok, hparams.fact_token, verbose=False) for p in prompts]
    rows = torch.arange(len(prompts), device=device)
    nethook.set_requires_grad(False, model)
    delta = torch.zeros(model.config.n_embd, device=device, requires_grad=True)
    clean = []

    def add(module, inputs, output):
        if not clean:
            clean.append(output[0, places[0]].detach().clone())
        changed = output.clone()
        changed[rows, places] = output[rows, places] + delta
        return changed

    optimizer = torch.optim.Adam([delta], lr=hparams.v_lr)
    before = None
    hook = nethook.get_module(model, hparams.mlp_module_tmp.format(layer)).register_forward_hook(add)
    try:
        for step in range(hparams.v_num_grad_steps):
            logits = model(**batch).logits
            essence = logits[-1, places[-1]].log_softmax(0)
            if before is None:
                before = essence.detach()
            losses = torch.nn.functional.cross_entropy(
                logits[:-1].transpose(1, 2), labels, ignore_index=-100, reduction="none"
            )
            likelihood = (losses.sum(1) / len(target)).mean()
            divergence = (essence.exp() * (essence - before)).sum()
            decay = delta.norm() / clean[0].norm() ** 2
            loss = likelihood + hparams.kl_factor * divergence + hparams.v_weight_decay * decay
            if loss.item() < 0.05 or step + 1 == hparams.v_num_grad_steps:
                break
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            largest = hparams.clamp_norm_factor * clean[0].norm()
            with torch.no_grad():
                if delta.norm() > largest:
                    delta.mul_(largest / delta.norm())
    finally:
        hook.remove()
    key, output = get_module_input_output_at_word(
        model, tok, layer, request["prompt"], request["subject"], hparams.rewrite_module_tmp, hparams.fact_token
    )
    return (clean[0] + delta - output) / (key @ left_vector)
