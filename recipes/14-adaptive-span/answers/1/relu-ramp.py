    def forward(self, x):
        nearest = self.mask_template[self._max_size - x.size(-1) :]
        height = 1 + (nearest + self.current_val * self._max_size) / self._ramp_size
        return x * (F.relu(height) - F.relu(height - 1))
