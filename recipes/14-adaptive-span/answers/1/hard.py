    def forward(self, x):
        mask = (((self.mask_template + self.current_val * self._max_size) / self._ramp_size + 1) > 0).to(x.dtype)
        if x.size(-1) < self._max_size:
            mask = mask[..., -x.size(-1):]
        return x * mask
