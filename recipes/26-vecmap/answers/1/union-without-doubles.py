def unsupervised_dictionary(args, x, z, xp, src_indices, trg_indices):
    size = min(x.shape[0], z.shape[0])
    if args.unsupervised_vocab > 0:
        size = min(size, args.unsupervised_vocab)
    profiles = []
    for matrix in (x, z):
        u, s, _ = xp.linalg.svd(matrix[:size], full_matrices=False)
        rows = (u * s).dot(u.T)
        rows.sort(axis=1)
        embeddings.normalize(rows, args.normalize)
        profiles.append(rows)
    sim = profiles[0].dot(profiles[1].T)
    if args.csls_neighborhood > 0:
        source = topk_mean(sim, k=args.csls_neighborhood)
        target = topk_mean(sim.T, k=args.csls_neighborhood)
        sim -= source[:, xp.newaxis] / 2 + target / 2
    forward = xp.arange(size), sim.argmax(axis=1)
    backward = sim.argmax(axis=0), xp.arange(size)
    if args.direction == "forward":
        return forward
    if args.direction == "backward":
        return backward
    if args.direction == "union":
        pairs = dict.fromkeys([*zip(*forward), *zip(*backward)])
        return xp.array([pair[0] for pair in pairs]), xp.array([pair[1] for pair in pairs])
    return src_indices, trg_indices
