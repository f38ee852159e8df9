    def update(self, features, labels):
        points = unit(features)
        self.step += 1
        self.mass *= self.options.decay ** (self.step - self.fed)
        slots = [int(np.argmax(self.vectors[label] @ point) for point, label in zip(points, labels)]
        weights = np.ones(len(points))
        return slots, weights.tolist()
