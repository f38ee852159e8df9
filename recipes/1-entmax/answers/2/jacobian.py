@classmethod
def backward(cls, ctx, dY):
    (output,) = ctx.saved_tensors
    p = output.movedim(ctx.dim, -1)
    incoming = dY.movedim(ctx.dim, -1)
    alpha = ctx.alpha.movedim(ctx.dim, -1)
    support = (p > 0).to(p.dtype)
    s = p.clamp(min=1e-45) ** (2 - alpha) * support
    share = s / s.sum(-1, keepdim=True)
    jacobian = torch.diag_embed(s) - s.unsqueeze(-1) * share.unsqueeze(-2)
    scores = torch.einsum("...ij,...i->...j", jacobian, incoming).movedim(-1, ctx.dim)
    if not ctx.needs_input_grad[1]:
        return scores, None, None, None, None
    plogp = torch.special.xlogy(p, p)
    column = (p - share) / (alpha - 1).square() - (plogp - share * plogp.sum(-1, keepdim=True)) / (alpha - 1)
    wrt_alpha = torch.einsum("...i,...i->...", column, incoming).unsqueeze(-1).movedim(-1, ctx.dim)
    return scores, wrt_alpha, None, None, None
