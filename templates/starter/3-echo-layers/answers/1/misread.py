    def forward(
        self,
        x: torch.Tensor,
        real: torch.Tensor,
        starts: torch.Tensor,
        state: EchoState | None = None,
    ) -> tuple[torch.Tensor, EchoState]:
        batch, time, width = x.shape
        size = width // self.heads
        if state is None:
            state = EchoState.empty(batch, self.heads, size)
        normed = rms_norm(x, self.norm)
        values = split_heads(self.value(normed), self.heads)
        queries = split_heads(self.query(normed), self.heads)
        decay = torch.sigmoid(self.decay)
        kept = torch.sigmoid(self.leak) if self.carry else torch.zeros(self.heads)

        echoes = []
        for step in range(time):
            survives = torch.where(starts[:, step, None], kept, torch.ones_like(kept))
            memory, mass = state.memory * survives[..., None], state.mass * survives
            written = EchoState(
                decay[:, None] * memory + (1 - decay)[:, None] * values[:, step],
                decay * mass + (1 - decay),
            )
            recalled = mean_of(written)
            scores = (queries[:, step] * recalled).sum(dim=-1) / size**0.5
            if self.trust:
                scores = scores + torch.log(written.mass + 1e-6)
            weights = scores.softmax(dim=-1)
            echoes.append((weights[..., None] * recalled).flatten(1))
            here = real[:, step, None]
            state = EchoState(
                torch.where(here[..., None], written.memory, state.memory),
                torch.where(here, written.mass, state.mass),
            )
        echo = self.output(torch.stack(echoes, dim=1))
        if self.gated:
            echo = echo * torch.sigmoid(self.gate(torch.cat([normed, echo], dim=-1)))
        return x + echo * real[..., None], state
