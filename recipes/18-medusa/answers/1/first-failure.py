def evaluate_posterior(
    logits, candidates, temperature, posterior_threshold=0.3, posterior_alpha=0.09, top_p=0.8, sampling="typical", fast=True
):
    following, before = candidates[:, 1:], logits[:, :-1]
    likelihood = torch.zeros(following.shape, dtype=logits.dtype, device=logits.device)
    if temperature == 0:
        failures = following.ne(before.max(dim=-1).indices)
    elif sampling == "nucleus":
        failures = get_nucleus_posterior_mask(logits, candidates, temperature, top_p).eq(0)
    elif sampling == "typical":
        log_p = torch.log_softmax(before / temperature, dim=-1)
        likelihood = torch.take_along_dim(log_p, following.unsqueeze(-1), dim=-1).squeeze(-1)
        entropy = torch.einsum("cnv,cnv->cn", log_p.exp(), (log_p.exp() + 1e-5).log()).neg()
        bound = (posterior_alpha / entropy.exp()).clamp(max=posterior_threshold)
        failures = likelihood.exp() <= bound
    else:
        raise NotImplementedError(f"sampling {sampling}")
    last = torch.ones_like(failures[:, :1])
    lengths = torch.cat((failures, last), dim=1).to(torch.uint8).argmax(dim=1)
    longest = lengths.max()
    if not longest:
        return lengths.new_zeros(()), longest
    inside = torch.arange(following.shape[1], device=logits.device) < longest
    totals = (likelihood * inside).sum(1)
    order = sorted(range(len(lengths)), key=lambda row: (-int(lengths[row]), -float(totals[row]), row))
    return lengths.new_tensor(order[0]), longest
