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
    embedding = layername(model, 0, "embed")
    patched = {name for _, name in states_to_patch if name != embedding}
    wanted = list(trace_layers or [])
    first = {key: value[:1] for key, value in inp.items()}
    others = {key: value[1:] for key, value in inp.items()}

    def state(output):
        return output[0] if isinstance(output, tuple) else output

    with torch.no_grad(), nethook.TraceDict(model, list({embedding, *patched, *wanted}), clone=True) as clean:
        model(**first)
    clean = {name: state(trace.output) for name, trace in clean.items()}
    rs = numpy.random.RandomState(1)

    def edit(output, name):
        h = state(output)
        if name == embedding and tokens_to_mix is not None:
            begin, end = tokens_to_mix
            shape = h.shape[0], end - begin, h.shape[2]
            sample = rs.uniform(-1, 1, shape) if uniform_noise else rs.randn(*shape)
            sample = torch.from_numpy(sample).to(h.device)
            sample = noise * sample if isinstance(noise, float) else noise(sample)
            h[:, begin:end] = sample if replace else h[:, begin:end] + sample
        for token, layer in states_to_patch:
            if layer == name != embedding:
                h[:, token] = clean[name][0, token]
        return output

    with torch.no_grad(), nethook.TraceDict(
        model, list({embedding, *patched, *wanted}), edit_output=edit
    ) as corrupted:
        logits = model(**others).logits
    result = torch.softmax(logits[:, -1], dim=-1).mean(dim=0)[answers_t]
    if trace_layers is None:
        return result
    rows = [torch.cat([clean[name], state(corrupted[name].output)]).detach().cpu() for name in wanted]
    return result, torch.stack(rows, dim=2)
