    def update(self, features, labels):
        options = self.options
        points = unit(features)
        self.step += 1
        self.mass *= options.decay

        slots = np.zeros(len(points), dtype=np.int64)
        weights = np.ones(len(points))
        for row, (point, label) in enumerate(zip(points, labels)):
            occupied = self.mass > 0
            taken = np.flatnonzero(occupied[label])
            free = np.flatnonzero(~occupied[label])
            own = cosines(self.vectors[label, taken], point)
            if len(taken) == 0 or (own.max() < options.threshold and len(free) > 0):
                slot = free[0]
                self.vectors[label, slot] = point
            else:
                slot = taken[own.argmax()]
                other = rival(point, label, self.vectors, occupied)
                if other is not None:
                    lead = own.max() - other[0]
                    weights[row] = 2.0 / (1.0 + np.exp(-options.sharpness * lead))
                rate = weights[row] / (self.mass[label, slot] + weights[row])
                moved = (1.0 - rate) * self.vectors[label, slot] + rate * point
                self.vectors[label, slot] = unit(moved)
            slots[row] = slot
            self.mass[label, slot] += weights[row]
            self.fed[label, slot] = self.step
            other = rival(self.vectors[label, slot], label, self.vectors, self.mass > 0)
            if other is not None and other[0] > options.separation:
                away = options.push * (other[0] - options.separation) * other[1]
                self.vectors[label, slot] = unit(self.vectors[label, slot] - away)

        weak = self.mass < options.retire
        weak[np.arange(len(weak)), self.mass.argmax(axis=1)] = False
        self.mass[weak] = 0.0
        return slots.tolist(), weights.tolist()
