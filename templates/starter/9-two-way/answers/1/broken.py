def two_way_attribution(model, tokens, fixed, most):
    free = torch.nonzero(~fixed).flatten()
    removed = model.eliminate(tokens, free, most)
    restored = model.restore(tokens, free, most)
    return 0.5 * (removed + restored), (removed - restored).abs()
