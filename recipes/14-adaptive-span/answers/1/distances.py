    def forward(self, x):
        count = x.shape[-1]
        distance = torch.arange(count - 1, -1, -1, dtype=x.dtype, device=x.device)
        span = self._max_size * self.current_val
        ramp = (self._ramp_size + span - distance) / self._ramp_size
        mask = torch.where(ramp > 1, torch.ones_like(ramp), torch.where(ramp < 0, torch.zeros_like(ramp), ramp))
        return mask * x
