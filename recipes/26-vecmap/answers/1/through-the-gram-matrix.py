def unsupervised_dictionary(args, x, z, xp, src_indices, trg_indices):
    count = min(len(x), len(z))
    if args.unsupervised_vocab > 0:
        count = min(count, args.unsupervised_vocab)

    def profile(matrix):
        part = matrix[:count].astype("float64")
        values, vectors = xp.linalg.eigh(part.dot(part.T))
        root = (vectors * xp.sqrt(xp.maximum(values, 0))).dot(vectors.T)
        rows = xp.sort(root, axis=1)
        embeddings.normalize(rows, args.normalize)
        return rows

    similarity = profile(x).dot(profile(z).T)
    if args.csls_neighborhood > 0:
        of_source = topk_mean(similarity, k=args.csls_neighborhood)
        of_target = topk_mean(similarity.T, k=args.csls_neighborhood)
        similarity = 2 * similarity - of_source[:, None] - of_target[None, :]
    every = xp.arange(count)
    forward, backward = (every, similarity.argmax(axis=1)), (similarity.argmax(axis=0), every)
    if args.direction == "forward":
        return forward
    if args.direction == "backward":
        return backward
    if args.direction == "union":
        return tuple(xp.concatenate(both) for both in zip(forward, backward))
    return src_indices, trg_indices
