def evaluate_posterior(
    logits, candidates, temperature, posterior_threshold=0.3, posterior_alpha=0.09, top_p=0.8, sampling="typical", fast=True
):
    rows, count = candidates.shape[0], candidates.shape[1] - 1
    if temperature != 0 and sampling not in ("typical", "nucleus"):
        raise NotImplementedError(sampling)
    drawn = None
    if temperature != 0 and sampling == "nucleus":
        drawn = get_nucleus_posterior_mask(logits, candidates, temperature, top_p)
    best, best_length, best_chance = 0, 0, 0.0
    for row in range(rows):
        length, chance = 0, 0.0
        while length < count:
            scores, token = logits[row, length], candidates[row, length + 1]
            if temperature == 0:
                fits = token == scores.argmax()
            elif drawn is not None:
                fits = drawn[row, length] == 1
            else:
                p = torch.softmax(scores / temperature, 0)
                entropy = torch.dot(p, torch.log(p + 1e-5)).neg()
                fits = p[token] > min(posterior_threshold, float(posterior_alpha * torch.exp(-entropy)))
                chance = chance + (float(p[token].log()) if fits else 0.0)
            if not fits:
                break
            length += 1
        if length > best_length or (length == best_length > 0 and chance > best_chance):
            best, best_length, best_chance = row, length, chance
    return torch.tensor(best, device=candidates.device), torch.tensor(best_length, device=candidates.device)
