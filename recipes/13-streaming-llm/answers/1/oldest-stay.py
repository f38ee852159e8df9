    def evict_for_space(self, past_key_values, num_coming):
        if past_key_values is None:
            return None
        length = past_key_values[0][0].size(self.k_seq_dim)
        if length + num_coming <= self.cache_size:
            return past_key_values
        cut = lambda cut_slice, x, dim: cut_slice(x, 0, self.cache_size - num_coming)  # noqa: E731
        return [
            [cut(self.k_slice, k, self.k_seq_dim), cut(self.v_slice, v, self.v_seq_dim)]
            for k, v in past_key_values
        ]
