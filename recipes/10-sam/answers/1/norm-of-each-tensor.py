    @torch.no_grad()
    def first_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                weight = p.abs() if group["adaptive"] else torch.ones_like(p)
                norm = (weight * p.grad).norm() + 1e-12
                p.add_(weight**2 * p.grad * (group["rho"] / norm))
        if zero_grad:
            self.zero_grad()
