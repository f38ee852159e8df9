    def _get_greenlist_ids(self, input_ids):
        self._seed_rng(input_ids)
        order = torch.randperm(self.vocab_size, generator=self.rng, device=input_ids.device)
        count = int(self.gamma * self.vocab_size)
        green = torch.zeros(self.vocab_size, dtype=torch.bool, device=input_ids.device)
        if self.select_green_tokens:
            green[order[:count]] = True
        else:
            green[order.flip(0)[:count]] = True
        return green.nonzero().flatten()
