    def decode(self, prompt):
        """Best-first search: always expand the beginning with the highest score."""
        self.calls = self.skipped = 0
        best = float("-inf")
        queue = [(0.0, (), 0.0)]
        while queue and self.calls < self.budget:
            _, tokens, total = heapq.heappop(queue)
            if tokens and (tokens[-1] == self.model.end or len(tokens) == self.longest):
                score = total / len(tokens) ** self.power
                if score > best:
                    best = score
                    yield Hypothesis(tokens, score, self.calls)
                continue
            if total / self.longest**self.power <= best:
                self.skipped += 1
                continue
            row = self.model.log_probs(prompt + tokens)
            self.calls += 1
            for token in np.argsort(-row)[: self.branches].tolist():
                if token == self.model.end and len(tokens) < self.shortest:
                    continue
                grown = total + float(row[token])
                heapq.heappush(queue, (-grown / (len(tokens) + 1) ** self.power, (*tokens, token), grown))
