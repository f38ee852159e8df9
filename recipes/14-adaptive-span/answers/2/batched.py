    def forward(self, query, key, value, key_pe):
        if self.adapt_span_enabled:
            key, value, key_pe = self.adaptive_span.trim_memory(query, key, value, key_pe)
        rows, block, _ = query.shape
        span = key.size(1) - block
        windows = key.unfold(1, span, 1)[:, :block]
        positions = query.bmm(key_pe.expand(rows, -1, -1))
        scores = torch.matmul(query.unsqueeze(2), windows).squeeze(2) + positions

        def read(weights):
            spread = torch.stack([F.pad(weights[:, i], (i, block - i)) for i in range(block)], dim=1)
            return spread.bmm(value)

        if self.persistent_memory is not None:
            weights, from_memory = self.persistent_memory(query, scores)
            return from_memory + read(self.dropout(weights))
        weights = F.softmax(scores.div(self.hidden_size**0.5), dim=-1)
        return read(self.dropout(self.adaptive_span(weights) if self.adapt_span_enabled else weights))
