def loss(self, batch, policy_chosen_logps, policy_rejected_logps, policy_KL_logps, reference_chosen_logps,
         reference_rejected_logps, reference_KL_logps, *args):
    setting = self.config.loss
    KL = self.accelerator.gather((policy_KL_logps.sum(-1) - reference_KL_logps.sum(-1)).detach()).mean().clamp(min=0)

    def part(policy, reference, weight, sign):
        if policy.shape[0] == 0:
            nothing = torch.Tensor([]).to(self.policy_dtype).to(self.accelerator.device)
            return nothing, nothing
        rewards = policy.sum(-1) - reference.sum(-1)
        return weight * (1 - torch.sigmoid(setting.beta * sign * (rewards - KL))), rewards

    chosen_losses, chosen = part(policy_chosen_logps, reference_chosen_logps, setting.undesirable_weight, 1)
    rejected_losses, rejected = part(policy_rejected_logps, reference_rejected_logps, setting.desirable_weight, -1)
    return torch.cat([chosen_losses, rejected_losses]), chosen.detach(), rejected.detach(), KL.detach()
