def trace_with_patch(
    model,
    inp,
    states_to_patch,
    answers_t,
    tokens_to_mix,
    noise=0.1,
    uniform_noise=False,
    replace=False,
    trace_layers=None,
):
    random = numpy.random.RandomState(1)
    embedding = layername(model, 0, "embed")
    restored = defaultdict(list)
    for token, layer in states_to_patch:
        restored[layer].append(token)
    kept = {}

    def corrupt(x):
        if tokens_to_mix is None:
            return x
        begin, end = tokens_to_mix
        shape = (x.shape[0] - 1, end - begin, x.shape[2])
        drawn = torch.from_numpy(random.uniform(-1, 1, shape) if uniform_noise else random.randn(*shape))
        drawn = (noise * drawn if isinstance(noise, float) else noise(drawn)).to(x.device)
        y = x.clone()
        y[1:, begin:end] = (y[1:, begin:end] + drawn).to(x.dtype)
        return y

    def hook_of(name):
        def hook(module, inputs, output):
            x = output[0] if isinstance(output, tuple) else output
            if name == embedding:
                x = corrupt(x)
            elif name in restored:
                x = x.clone()
                for token in restored[name]:
                    x[1:, token] = x[0, token]
            kept[name] = x
            return (x, *output[1:]) if isinstance(output, tuple) else x

        return hook

    names = dict.fromkeys([embedding, *restored, *(trace_layers or [])])
    hooks = [nethook.get_module(model, name).register_forward_hook(hook_of(name)) for name in names]
    try:
        with torch.no_grad():
            logits = model(**inp).logits[:, -1]
    finally:
        for hook in hooks:
            hook.remove()
    probability = logits[1:].softmax(-1).mean(0)[answers_t]
    if trace_layers is None:
        return probability
    return probability, torch.stack([kept[name].detach().cpu() for name in trace_layers], dim=2)
