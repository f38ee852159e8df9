    def _projection(self, p, grad, perturb, delta, wd_ratio, eps):
        def orthogonal(vector, other):
            limit = delta / math.sqrt(vector.numel())
            return self._cosine_similarity(other, vector, eps, self._layer_view).item() < limit

        def remove(update, vector):
            direction = vector.flatten() / (vector.norm().item() + eps)
            inner = torch.dot(direction, update.flatten())
            return update - (inner * direction).view_as(update)

        with torch.no_grad():
            if all(orthogonal(w, g) for w, g in zip(p, grad)):
                return torch.stack([remove(u, w) for u, w in zip(perturb, p)]), wd_ratio
            if orthogonal(p.data, grad):
                return remove(perturb, p.data), wd_ratio
        return perturb, 1
