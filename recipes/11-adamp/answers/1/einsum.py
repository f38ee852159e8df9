    def _projection(self, p, grad, perturb, delta, wd_ratio, eps):
        weight = p.detach()
        for groups in (weight.shape[0], 1):
            w = weight.reshape(groups, -1)
            g = grad.reshape(groups, -1)
            bound = delta * w.shape[1] ** -0.5
            lengths = torch.linalg.vector_norm(w, dim=1)
            dots = torch.einsum("cd,cd->c", w, g).abs()
            cosines = dots / (lengths * torch.linalg.vector_norm(g, dim=1)).clamp_min(eps)
            if bool((cosines < bound).all()):
                unit = w / (lengths + eps)[:, None]
                flat = perturb.reshape(groups, -1)
                radial = torch.einsum("cd,cd->c", unit, flat)
                return (flat - radial[:, None] * unit).reshape(perturb.shape), wd_ratio
        return perturb, 1
