    @torch.no_grad()
    def step(self, closure=None):
        if not self.param_groups[0]["train_mode"]:
            raise Exception("call train() before step()")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta, beta2 = group["betas"]
            time = group["k"] + 1
            warm = min(1.0, time / group["warmup_steps"]) if group["warmup_steps"] else 1.0
            rate = group["lr"] * warm
            group["scheduled_lr"] = rate
            group["lr_max"] = max(rate, group["lr_max"])
            share = time ** group["r"] * group["lr_max"] ** group["weight_lr_power"]
            group["weight_sum"] += share
            c = share / group["weight_sum"] if group["weight_sum"] else 0.0
            for y in group["params"]:
                if y.grad is None:
                    continue
                state = self.state[y]
                if "z" not in state:
                    state["z"], state["exp_avg_sq"] = y.detach().clone(), torch.zeros_like(y)
                    if group["inner_momentum"]:
                        state["exp_avg"] = torch.zeros_like(y)
                z, second = state["z"], state["exp_avg_sq"]
                second.copy_(beta2 * second + (1 - beta2) * y.grad**2)
                direction = y.grad
                if group["inner_momentum"]:
                    mu, first = group["inner_momentum"], state["exp_avg"]
                    first.copy_(mu * first + (1 - mu) * y.grad)
                    direction = first / (1 - mu**time)
                direction = direction / (second.sqrt() + group["eps"])
                direction = direction + group["weight_decay"] * y
                pulled = (1 - c) * y + c * z
                y.copy_(pulled + rate * (beta * (1 - c) - 1) * direction)
                z.copy_(z - rate * direction)
            group["k"] = time
        return loss
