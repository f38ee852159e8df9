    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = self._grad_norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                step = p.grad * (group["rho"] / norm).to(p)
                p.add_(step * p.pow(2) if group["adaptive"] else step)
