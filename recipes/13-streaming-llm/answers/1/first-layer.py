    def evict_for_space(self, past_key_values, num_coming):
        if past_key_values is None:
            return None
        length = past_key_values[0][0].size(self.k_seq_dim)
        if length + num_coming <= self.cache_size:
            return past_key_values
        after = length - self.recent_size + num_coming
        (key, value), *others = past_key_values
        key = torch.cat([self.k_slice(key, 0, self.start_size), self.k_slice(key, after, length)], dim=self.k_seq_dim)
        value = torch.cat([self.v_slice(value, 0, self.start_size), self.v_slice(value, after, length)], dim=self.v_seq_dim)
        return [[key, value], *others]
