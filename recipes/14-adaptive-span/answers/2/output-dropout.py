    def forward(self, query, key, value, key_pe):
        if self.adapt_span_enabled:
            key, value, key_pe = self.adaptive_span.trim_memory(query, key, value, key_pe)
        content = _unskew(torch.matmul(query, key.transpose(1, 2)))
        scores = content + torch.matmul(query, key_pe)
        memory_output = None
        if self.persistent_memory is not None:
            weights, memory_output = self.persistent_memory(query, scores)
        else:
            scores = scores / math.sqrt(self.hidden_size)
            weights = F.softmax(scores, dim=-1)
            if self.adapt_span_enabled:
                weights = self.adaptive_span(weights)
        out = torch.matmul(_skew(weights, 0), value)
        out = self.dropout(out)
        if memory_output is not None:
            out = out + memory_output
        return out
