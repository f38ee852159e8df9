    def evict_for_space(self, past_key_values, num_coming):
        if past_key_values is None:
            return None
        length = past_key_values[0][0].size(self.k_seq_dim)
        if length + num_coming <= self.cache_size:
            return past_key_values
        after = length - self.recent_size + num_coming
        return [
            [torch.cat([self.k_slice(x, 0, self.start_size), self.k_slice(x, after, length)], dim=self.k_seq_dim) for x in pair]
            for pair in past_key_values
        ]
