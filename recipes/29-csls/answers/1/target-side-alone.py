def get_candidates(emb1, emb2, params):
    method, rank = params.dico_method, params.dico_max_rank
    count = len(emb1)
    if rank > 0 and not method.startswith("invsm"):
        count = min(count, rank)
    hubness, partition = None, None
    if method.startswith("csls"):
        hubness = torch.as_tensor(get_nn_avg_dist(emb1, emb2, int(method[9:]))).to(emb2)
    if method.startswith("invsm"):
        beta = float(method[11:])
        partition = torch.logsumexp(beta * emb1.mm(emb2.t()), dim=0)
    found = []
    for word in range(count):
        row = torch.mv(emb2, emb1[word])
        if hubness is not None:
            row = row + row - hubness
        elif partition is not None:
            row = (beta * row - partition).exp()
        best, second = row.topk(2)[0].tolist()
        found.append((best - second, word, int(row.argmax())))
    found.sort(key=lambda entry: -entry[0])
    if rank > 0:
        found = [entry for entry in found if max(entry[1:]) <= rank]
    if params.dico_max_size > 0:
        del found[params.dico_max_size :]
    if params.dico_threshold > 0:
        found = [
            entry
            for place, entry in enumerate(found)
            if place < params.dico_min_size or entry[0] > params.dico_threshold
        ]
    return torch.tensor([entry[1:] for entry in found], dtype=torch.long).view(-1, 2)
