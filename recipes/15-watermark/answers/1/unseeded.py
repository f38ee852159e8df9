    def _get_greenlist_ids(self, input_ids):
        generator = torch.Generator(device=input_ids.device).manual_seed(self.hash_key)
        count = int(self.vocab_size * self.gamma)
        order = torch.randperm(self.vocab_size, device=input_ids.device, generator=generator)
        return order[:count] if self.select_green_tokens else order[self.vocab_size - count :]
