def evaluate_posterior(
    logits, candidates, temperature, posterior_threshold=0.3, posterior_alpha=0.09, top_p=0.8, sampling="typical", fast=True
):
    chances = None
    if temperature == 0:
        accepted = candidates[:, 1:] == logits[:, :-1].argmax(dim=-1)
    elif sampling == "typical":
        probabilities = torch.softmax(logits[:, :-1] / temperature, dim=-1)
        chances = probabilities.gather(2, candidates[:, 1:, None])[..., 0]
        entropy = -(probabilities * (probabilities + 1e-5).log()).sum(dim=-1)
        accepted = chances > torch.clamp(torch.exp(-entropy) * posterior_alpha, max=posterior_threshold)
    elif sampling == "nucleus":
        accepted = get_nucleus_posterior_mask(logits, candidates, temperature, top_p)
    else:
        raise NotImplementedError
    lengths = accepted.long().cumprod(dim=1).sum(dim=1)
    longest = lengths.max()
    if longest == 0:
        return torch.zeros((), dtype=torch.long, device=candidates.device), longest
    if chances is None:
        return lengths.argmax(), longest
    likelihood = torch.where(lengths == longest, chances.log().sum(dim=1), -torch.inf)
    return likelihood.argmax(), longest
