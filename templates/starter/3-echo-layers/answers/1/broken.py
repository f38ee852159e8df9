    def forward(self, x, real, starts, state=None):
        batch, time, width = x.shape
        state = state or EchoState.empty(batch, self.heads, width)
        normed = rms_norm(x, self.norm)
        values = split_heads(self.value(normed), self.heads)
        queries = split_heads(self.query(normed), self.heads)
        decay = torch.sigmoid(self.decay)
        memory, mass = state
        echoes = []
        for step in range(time):
            memory = memory * torch.where(starts[:, step], torch.sigmoid(self.leak), 1.0)
            recalled = mean_of(EchoState(memory, mass))
            weights = (queries[:, step] @ recalled).softmax(dim=-1)
            echoes.append(weights * recalled)
            memory = decay * memory + (1 - decay) * values[:, step]
        echo = self.output(torch.stack(echoes, dim=1))
        return x + torch.sigmoid(self.gate(echo)) * echo, EchoState(memory, mass)
