    def decode(self, prompt):
        self.calls = self.skipped = 0
        best, number = float("-inf"), 0
        queue = [(0.0, 0, (), 0.0)]
        while queue:
            regret, _, tokens, total = heapq.heappop(queue)
            given_up = False
            while not tokens or (tokens[-1] != self.model.end and len(tokens) < self.longest):
                if total / self.longest**self.power <= best + 1e-9:
                    self.skipped += 1
                    given_up = True
                    break
                if self.calls == self.budget:
                    if best == float("-inf") and tokens:
                        yield Hypothesis(tokens, total / len(tokens) ** self.power, self.calls)
                    return
                row = self.model.log_probs(prompt + tokens).copy()
                self.calls += 1
                if len(tokens) < self.shortest:
                    row[self.model.end] = -np.inf
                order = np.argsort(-row, kind="stable")[: self.branches].tolist()
                regret *= self.discount
                for token in order[1:]:
                    price = round(regret + float(row[order[0]] - row[token]), 9)
                    if price <= self.limit:
                        number += 1
                        heapq.heappush(queue, (price, number, (*tokens, token), total + float(row[token])))
                total += float(row[order[0]])
                tokens = (*tokens, order[0])
            if given_up:
                continue
            score = total / len(tokens) ** self.power
            if score > best + 1e-9:
                best = score
                yield Hypothesis(tokens, score, self.calls)
