    def _get_greenlist_ids(self, input_ids):
        self._seed_rng(input_ids)
        order = torch.randperm(self.vocab_size, device=input_ids.device, generator=self.rng)
        return order[: int(self.vocab_size * self.gamma)]
