    def _get_greenlist_ids(self, input_ids):
        self._seed_rng(input_ids)
        coins = torch.rand(self.vocab_size, device=input_ids.device, generator=self.rng)
        green = coins < self.gamma if self.select_green_tokens else coins >= 1 - self.gamma
        return green.nonzero().flatten()
