    def decode(self, prompt):
        end, horizon = self.model.end, self.longest
        self.calls, self.skipped = 0, 0
        branches = [((), 0.0, 0.0)]
        top = None

        def finished(text):
            return len(text) >= horizon or (len(text) > 0 and text[-1] == end)

        def successors(text):
            values = [float(value) for value in self.model.log_probs(tuple(prompt) + text)]
            self.calls += 1
            if len(text) < self.shortest:
                values[end] = -math.inf
            ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
            return [(token, values[token]) for token in ranked[: self.branches]]

        while branches:
            place = min(range(len(branches)), key=lambda i: (branches[i][2], i))
            text, logp, regret = branches.pop(place)
            given_up = False
            while not finished(text):
                if top is not None and logp / horizon**self.power <= top + 1e-9:
                    self.skipped += 1
                    given_up = True
                    break
                if self.calls >= self.budget:
                    if top is None and text:
                        yield Hypothesis(text, logp / len(text) ** self.power, self.calls)
                    return
                (first, value), *rest = successors(text)
                for token, lower in rest:
                    r = round(regret + value - lower, 9)
                    if r <= self.limit:
                        branches.append((text + (token,), logp + lower, r))
                text, logp, regret = text + (first,), logp + value, regret * self.discount
            if given_up:
                continue
            s = logp / len(text) ** self.power
            if top is None or s > top + 1e-9:
                top = s
                yield Hypothesis(text, s, self.calls)


import math
