def loss(self, batch, policy_chosen_logps, policy_rejected_logps, policy_KL_logps, reference_chosen_logps,
         reference_rejected_logps, reference_KL_logps, *args):
    settings = self.config.loss
    with torch.no_grad():
        mismatched = (policy_KL_logps - reference_KL_logps).sum(dim=-1)
        point = torch.relu(self.accelerator.gather(mismatched).mean())
    number = policy_chosen_logps.shape[0], policy_rejected_logps.shape[0]
    policy = torch.cat([policy_chosen_logps, policy_rejected_logps])
    reference = torch.cat([reference_chosen_logps, reference_rejected_logps])
    rewards = (policy - reference).sum(dim=-1)
    sign = torch.tensor([1.0] * number[0] + [-1.0] * number[1], device=rewards.device)
    weight = torch.tensor(
        [settings.desirable_weight] * number[0] + [settings.undesirable_weight] * number[1], device=rewards.device
    )
    losses = weight * torch.sigmoid(settings.beta * sign * (point - rewards))
    chosen, rejected = rewards.detach().split(number)
    return losses, chosen, rejected, point
