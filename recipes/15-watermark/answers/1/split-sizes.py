    def _get_greenlist_ids(self, input_ids):
        self._seed_rng(input_ids)
        shuffled = torch.randperm(self.vocab_size, device=input_ids.device, generator=self.rng)
        green = int(self.gamma * self.vocab_size)
        rest = self.vocab_size - green
        if not self.select_green_tokens:
            return torch.split(shuffled, [rest, green])[1]
        return torch.split(shuffled, [green, rest])[0]
