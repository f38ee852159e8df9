    def _get_greenlist_ids(self, input_ids):
        self._seed_rng(input_ids[:1])
        count = int(self.vocab_size * self.gamma)
        order = torch.randperm(self.vocab_size, device=input_ids.device, generator=self.rng)
        return order[:count] if self.select_green_tokens else order[self.vocab_size - count :]
