    def forward(self, query, key, value, key_pe):
        if self.adapt_span_enabled:
            key, value, key_pe = self.adaptive_span.trim_memory(query, key, value, key_pe)
        rows, block, width = query.shape
        span = key.size(1) - block
        # Query number i sees the tokens i … i + span - 1 of cache and block.
        seen = torch.arange(block).unsqueeze(1) + torch.arange(span).unsqueeze(0)
        keys, values = key[:, seen], value[:, seen]
        scores = torch.einsum("bmh,bmlh->bml", query, keys) + torch.einsum("bmh,xhl->bml", query, key_pe)
        if self.persistent_memory is not None:
            weights, extra = self.persistent_memory(query, scores)
        else:
            extra = 0
            weights = torch.softmax(scores * width**-0.5, dim=2)
            if self.adapt_span_enabled:
                weights = self.adaptive_span(weights)
        weights = self.dropout(weights)
        return torch.einsum("bml,bmlh->bmh", weights, values) + extra
