    def evict_for_space(self, past_key_values, num_coming):
        if past_key_values is None:
            return None
        length = past_key_values[0][0].shape[self.k_seq_dim]
        allowed = self.start_size + self.recent_size
        if length + num_coming <= allowed:
            return past_key_values
        oldest = length - (self.recent_size - num_coming)
        keep = [position for position in range(length) if position < self.start_size or position >= oldest]
        result = []
        for key, value in past_key_values:
            positions = torch.tensor(keep, dtype=torch.long, device=key.device)
            result.append([key.index_select(self.k_seq_dim, positions), value.index_select(self.v_seq_dim, positions)])
        return result
