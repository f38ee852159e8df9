    def decode(self, prompt):
        self.calls = self.skipped = 0
        best = None
        queue = [Branch(tokens=(), regret=0.0)]
        while queue:
            branch = heapq.heappop(queue)
            for tokens, score in self.roll_out(prompt, branch, queue):
                if best is None or score > best
                    best = score
                    yield Hypothesis(tokens, score, self.calls)
