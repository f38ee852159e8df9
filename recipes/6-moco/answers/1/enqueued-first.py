def forward(self, im_q, im_k):
    q = nn.functional.normalize(self.encoder_q(im_q), dim=1)
    self._momentum_update_key_encoder()
    with torch.no_grad():
        mixed, back = self._batch_shuffle_ddp(im_k)
        k = nn.functional.normalize(self.encoder_k(mixed), dim=1)
        k = self._batch_unshuffle_ddp(k, back)
    self._dequeue_and_enqueue(k)
    positive = (q * k).sum(1, keepdim=True)
    negative = q @ self.queue.clone().detach()
    logits = torch.cat([positive, negative], dim=1) / self.T
    labels = torch.zeros(len(logits), dtype=torch.long).cuda()
    return logits, labels
