def loss(self, batch, policy_chosen_logps, policy_rejected_logps, policy_KL_logps, reference_chosen_logps,
         reference_rejected_logps, reference_KL_logps, *args):
    def rewards_of(policy, reference):
        if len(policy) == 0:
            return torch.empty(0, dtype=self.policy_dtype, device=self.accelerator.device)
        return policy.sum(1).sub(reference.sum(1))

    def complement(logit):  # 1 - sigmoid
        return torch.exp(-F.softplus(logit))

    every = self.accelerator.gather(rewards_of(policy_KL_logps, reference_KL_logps).detach())
    z0 = torch.maximum(every.sum() / every.numel(), torch.zeros_like(every[0]))
    good = rewards_of(policy_chosen_logps, reference_chosen_logps)
    bad = rewards_of(policy_rejected_logps, reference_rejected_logps)
    beta = self.config.loss.beta
    first = complement(beta * good - beta * z0) * self.config.loss.desirable_weight
    second = complement(beta * z0 - beta * bad) * self.config.loss.undesirable_weight
    return torch.cat([first, second]), good.detach(), bad.detach(), z0
