def get_candidates(emb1, emb2, params):
    method, rank = params.dico_method, params.dico_max_rank
    looked_up = len(emb1)
    scores = emb1 @ emb2.T
    if method.startswith("invsm_beta_"):
        scores = torch.softmax(scores * float(method.rpartition("_")[2]), dim=0)
    else:
        if method.startswith("csls_knn_"):
            k = int(method.rpartition("_")[2])
            nearest_targets = scores.sort(dim=1, descending=True)[0][:, :k].mean(dim=1)
            nearest_sources = scores.sort(dim=0, descending=True)[0][:k].mean(dim=0)
            scores = scores - nearest_targets.unsqueeze(1) - nearest_sources.unsqueeze(0)
        if rank > 0:
            looked_up = min(rank, looked_up)
            scores = scores[:looked_up]
    ordered, places = scores.sort(dim=1, descending=True)
    margin = ordered[:, 0] - ordered[:, 1]
    order = margin.argsort(descending=True)
    pairs = torch.stack([order, places[order, 0]], dim=1)
    margin = margin[order]
    if rank > 0:
        low = (pairs <= rank).all(dim=1)
        pairs, margin = pairs[low], margin[low]
    if params.dico_max_size > 0:
        pairs, margin = pairs[: params.dico_max_size], margin[: params.dico_max_size]
    if params.dico_threshold > 0:
        sure = margin > params.dico_threshold
        sure[: max(0, params.dico_min_size)] = True
        pairs = pairs[sure]
    return pairs
