    def update(self, features, labels):
        opts = self.options
        z = unit(features)
        n_classes, n_slots, _ = self.vectors.shape
        self.step = self.step + 1
        self.mass = self.mass * np.power(opts.decay, self.step - self.fed)  # (1)

        live = self.mass > 0
        assigned, is_founder = [], []
        for zi, c in zip(z, labels):
            c = int(c)
            similarity = [self.vectors[c, k] @ zi if live[c, k] else -np.inf for k in range(n_slots)]
            best = int(np.argmax(similarity))
            vacant = [k for k in range(n_slots) if not live[c, k]]
            if vacant and similarity[best] < opts.threshold:
                best = vacant[0]
                self.vectors[c, best] = zi
                live[c, best] = True
                is_founder.append(True)
            else:
                is_founder.append(False)
            assigned.append(best)
        assigned = np.array(assigned, dtype=np.int64)

        weights = []
        for zi, c, k, founder in zip(z, labels, assigned, is_founder):  # (2), (3)
            closest = None if founder else rival(zi, c, self.vectors, live)
            if closest is None:
                weights.append(1.0)
            else:
                weights.append(2 / (1 + np.exp(-opts.sharpness * (self.vectors[c, k] @ zi - closest[0]))))

        w = np.array(weights)
        moved = []
        for c in range(n_classes):  # (4)
            for k in range(n_slots):
                members = (labels == c) & (assigned == k)
                if members.any():
                    pull = (w[members, None] * z[members]).sum(axis=0)
                    self.vectors[c, k] = unit(self.mass[c, k] * self.vectors[c, k] + pull)
                    self.mass[c, k] += w[members].sum()
                    self.fed[c, k] = self.step
                    moved.append((c, k))

        before = np.array(self.vectors)
        for c, k in moved:  # (5)
            found = rival(before[c, k], c, before, live)
            if found is None:
                continue
            cosine, q = found
            self.vectors[c, k] = unit(before[c, k] - opts.push * max(0.0, cosine - opts.separation) * q)

        for c in range(n_classes):
            heaviest = int(np.argmax(self.mass[c]))
            for k in range(n_slots):
                if k != heaviest and self.mass[c, k] < opts.retire:
                    self.mass[c, k] = 0.0
        return assigned.tolist(), weights
