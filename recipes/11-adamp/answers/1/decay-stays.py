    def _projection(self, p, grad, perturb, delta, wd_ratio, eps):
        shape = [-1] + [1] * (p.dim() - 1)
        for view in (self._channel_view, self._layer_view):
            cosine = self._cosine_similarity(grad, p.data, eps, view)
            if cosine.max() < delta / math.sqrt(view(p.data).size(1)):
                unit = p.data / (view(p.data).norm(dim=1).view(shape) + eps)
                return perturb - unit * view(unit * perturb).sum(dim=1).view(shape), 1
        return perturb, 1
