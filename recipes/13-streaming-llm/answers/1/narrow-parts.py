    def evict_for_space(self, past_key_values, num_coming):
        if not past_key_values:
            return past_key_values
        length = past_key_values[0][0].size(self.k_seq_dim)
        leaving = length + num_coming - self.cache_size

        def without_middle(tensor, dim):
            after = self.start_size + leaving
            sinks = tensor.narrow(dim, 0, self.start_size)
            if after >= length:
                return sinks.clone()
            return torch.cat((sinks, tensor.narrow(dim, after, length - after)), dim)

        if leaving <= 0:
            return past_key_values
        return [
            [without_middle(key, self.k_seq_dim), without_middle(value, self.v_seq_dim)]
            for key, value in past_key_values
        ]
