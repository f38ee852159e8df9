    def forward(self, x, real, starts, state=None):
        b, t, d = x.shape
        h = self.heads
        memory, mass = EchoState.empty(b, h, d // h) if state is None else state
        u = rms_norm(x, self.norm)
        v = self.value(u).view(b, t, h, d // h)
        q = self.query(u).view(b, t, h, d // h)
        alpha = self.decay.sigmoid().view(1, h)
        border = self.leak.sigmoid().view(1, h) if self.carry else torch.zeros(1, h)

        rows = []
        for i in range(t):
            r = real[:, i].to(x.dtype).unsqueeze(1)  # (b, 1)
            s = starts[:, i].to(x.dtype).unsqueeze(1)
            factor = s * border + (1 - s)  # (1)
            m1, n1 = memory * factor.unsqueeze(-1), mass * factor
            recalled = mean_of(EchoState(m1, n1))
            a = torch.einsum("bhk,bhk->bh", q[:, i], recalled) / (d // h) ** 0.5  # (2)
            if self.trust:
                a = a + (n1 + 1e-6).log()
            w = torch.softmax(a, dim=1)  # (3)
            rows.append((w.unsqueeze(-1) * recalled).reshape(b, d))
            m2 = alpha.unsqueeze(-1) * m1 + (1 - alpha).unsqueeze(-1) * v[:, i]  # (5)
            n2 = alpha * n1 + (1 - alpha)
            memory = r.unsqueeze(-1) * m2 + (1 - r.unsqueeze(-1)) * memory
            mass = r * n2 + (1 - r) * mass

        e = self.output(torch.stack(rows, 1))  # (4)
        if self.gated:
            e = e * self.gate(torch.cat((u, e), -1)).sigmoid()
        return torch.where(real.unsqueeze(-1), x + e, x), EchoState(memory, mass)
