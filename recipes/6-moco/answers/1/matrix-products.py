def forward(self, im_q, im_k):
    queries = self.encoder_q(im_q)
    queries = queries / queries.norm(dim=1, keepdim=True).clamp(min=1e-12)
    with torch.no_grad():
        self._momentum_update_key_encoder()
        mixed, order = self._batch_shuffle_ddp(im_k)
        keys = self.encoder_k(mixed)
        keys = keys / keys.norm(dim=1, keepdim=True).clamp(min=1e-12)
        keys = self._batch_unshuffle_ddp(keys, order)
        negatives = self.queue.clone()
        self._dequeue_and_enqueue(keys)
    same = (queries * keys).sum(dim=1, keepdim=True)
    logits = torch.hstack([same, queries @ negatives]).div(self.T)
    return logits, torch.zeros(len(logits), dtype=torch.int64).cuda()
