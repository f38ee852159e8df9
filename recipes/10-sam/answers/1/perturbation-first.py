    def first_step(self, zero_grad=False):
        with torch.no_grad():
            pairs = [(p, group) for group in self.param_groups for p in group["params"] if p.grad is not None]
            total = 0.0
            for p, group in pairs:
                scaled = p.grad * p.abs() if group["adaptive"] else p.grad
                total = total + scaled.square().sum().double()
            root = total.sqrt() + 1e-12
            for p, group in pairs:
                size = p.abs() if group["adaptive"] else torch.ones_like(p)
                climb = group["rho"] * (size.square() * p.grad) / root
                before = p.data.clone()
                self.state[p]["old_p"] = before
                p.data.copy_(before + climb)
        if zero_grad:
            self.zero_grad()
