def forward(self, im_q, im_k):
    unit = nn.functional.normalize
    with torch.no_grad():
        for ours, theirs in zip(self.encoder_k.parameters(), self.encoder_q.parameters()):
            ours.data.mul_(self.m).add_(theirs.data, alpha=1.0 - self.m)
    q = unit(self.encoder_q(im_q), dim=-1)
    with torch.no_grad():
        shuffled, back = self._batch_shuffle_ddp(im_k)
        k = self._batch_unshuffle_ddp(unit(self.encoder_k(shuffled), dim=-1), back)
        size = k.shape[0]
        columns = torch.cat([k.unsqueeze(2), self.queue.detach().unsqueeze(0).expand(size, -1, -1)], dim=2)
    logits = torch.bmm(q.unsqueeze(1), columns).squeeze(1) / self.T
    self._dequeue_and_enqueue(k)
    return logits, q.new_zeros(size, dtype=torch.long).cuda()
