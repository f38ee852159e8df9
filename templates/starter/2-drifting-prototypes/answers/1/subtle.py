    def update(self, features: np.ndarray, labels: np.ndarray) -> tuple[list[int], list[float]]:
        options = self.options
        points = unit(features)
        self.step += 1
        self.mass *= options.decay ** (self.step - self.fed)

        slots, similar, founders = [], [], []
        occupied = self.mass > 0
        for point, label in zip(points, labels):
            taken, free = np.flatnonzero(occupied[label]), np.flatnonzero(~occupied[label])
            own = cosines(self.vectors[label, taken], point)
            founder = len(taken) == 0 or (own.max() < options.threshold and len(free) > 0)
            if founder:
                self.vectors[label, free[0]] = point
                occupied[label, free[0]] = True
            slots.append(int(free[0] if founder else taken[own.argmax()]))
            similar.append(1.0 if founder else float(own.max()))
            founders.append(founder)

        weights = []
        for point, label, cosine, founder in zip(points, labels, similar, founders):
            other = rival(point, label, self.vectors, occupied)
            if founder or other is None:
                weights.append(1.0)
            else:
                weights.append(2.0 / (1.0 + np.exp(-options.sharpness * (cosine - other[0]))))

        sums = np.zeros_like(self.vectors)
        gained = np.zeros_like(self.mass)
        for point, label, slot, weight in zip(points, labels, slots, weights):
            sums[label, slot] += weight * point
            gained[label, slot] += weight
        active = gained > 0
        self.vectors[active] = unit(self.mass[active, None] * self.vectors[active] + sums[active])
        self.mass += gained
        self.fed[active] = self.step

        settled = self.vectors
        for label, slot in np.argwhere(active):
            other = rival(settled[label, slot], label, settled, occupied)
            if other is not None and other[0] > options.separation:
                pushed = settled[label, slot] - options.push * (other[0] - options.separation) * other[1]
                self.vectors[label, slot] = unit(pushed)

        weak = self.mass < options.retire
        weak[np.arange(len(weak)), self.mass.argmax(axis=1)] = False
        self.mass[weak] = 0.0
        return slots, weights
