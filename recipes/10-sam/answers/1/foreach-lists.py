    @torch.no_grad()
    def first_step(self, zero_grad=False):
        length = float(self._grad_norm()) + 1e-12
        moved, steps = [], []
        for options in self.param_groups:
            with_gradient = [p for p in options["params"] if p.grad is not None]
            for parameter in with_gradient:
                direction = parameter.grad
                if options["adaptive"]:
                    direction = parameter * parameter * direction
                moved.append(parameter)
                steps.append(direction * (options["rho"] / length))
        for parameter in moved:
            self.state[parameter]["old_p"] = parameter.detach().clone()
        if moved:
            torch._foreach_add_(moved, steps)
        if zero_grad:
            self.zero_grad()
