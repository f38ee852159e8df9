    @torch.no_grad()
    def step(self, closure=None):
        if not self.param_groups[0]["train_mode"]:
            raise Exception("the optimizer is in eval mode")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta, beta2 = group["betas"]
            momentum, steps_done = group["inner_momentum"], group["k"]
            group["k"] = steps_done + 1
            rate = group["lr"]
            if steps_done < group["warmup_steps"]:
                rate = rate * (steps_done + 1) / group["warmup_steps"]
            group["scheduled_lr"] = rate
            if rate > group["lr_max"]:
                group["lr_max"] = rate
            weight = group["lr_max"] ** group["weight_lr_power"] * float(group["k"]) ** group["r"]
            group["weight_sum"] = group["weight_sum"] + weight
            average = 0.0 if group["weight_sum"] == 0 else weight / group["weight_sum"]
            for p in (p for p in group["params"] if p.grad is not None):
                memory = self.state[p]
                y = p.detach().clone()
                z = memory.get("z", y)
                x = (y - (1 - beta) * z) / beta
                square = p.grad.square()
                v = torch.lerp(memory["exp_avg_sq"], square, 1 - beta2) if "z" in memory else (1 - beta2) * square
                numerator = p.grad
                if momentum != 0:
                    m = (1 - momentum) * p.grad
                    if "exp_avg" in memory:
                        m = m + momentum * memory["exp_avg"]
                    memory["exp_avg"] = m
                    numerator = m / (1 - momentum ** group["k"])
                root = torch.sqrt(v / (1 - beta2 ** group["k"]))
                z = z - rate * (numerator / (root + group["eps"]) + group["weight_decay"] * y)
                x = (1 - average) * x + average * z
                memory["z"], memory["exp_avg_sq"] = z, v
                p.copy_((1 - beta) * z + beta * x)
        return loss
