def unsupervised_dictionary(args, x, z, xp, src_indices, trg_indices):
    sizes = [x.shape[0], z.shape[0]] + [args.unsupervised_vocab] * (args.unsupervised_vocab > 0)
    n = min(sizes)
    rows = []
    for matrix in (x[:n], z[:n]):
        left, _, right = xp.linalg.svd(matrix, full_matrices=False)
        sorted_rows = xp.array([sorted(row) for row in matrix @ right.T @ left.T], dtype=matrix.dtype)
        embeddings.normalize(sorted_rows, args.normalize)
        rows.append(sorted_rows)
    sim = rows[0] @ rows[1].T
    k = args.csls_neighborhood
    if k > 0:
        rows_mean = xp.sort(sim, axis=1)[:, -k:].mean(axis=1, keepdims=True)
        columns_mean = xp.sort(sim, axis=0)[-k:].mean(axis=0, keepdims=True)
        sim = sim - (rows_mean + columns_mean) / 2
    source, target = [], []
    if args.direction in ("forward", "union"):
        source += range(n)
        target += sim.argmax(axis=1).tolist()
    if args.direction in ("backward", "union"):
        source += sim.argmax(axis=0).tolist()
        target += range(n)
    if args.direction not in ("forward", "backward", "union"):
        return src_indices, trg_indices
    return xp.array(source), xp.array(target)
