def _inside(self, unary_scores, rule_scores, root_scores):
    batch, n, _ = unary_scores.size()
    low = -self.huge
    blocked_above = unary_scores.new_full((batch, self.nt_states), low)
    blocked_below = unary_scores.new_full((batch, self.t_states), low)
    chart = [[None] * n for _ in range(n)]
    for k in range(n):
        chart[k][k] = torch.cat([blocked_above, unary_scores[:, k]], 1)
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            left = torch.stack([chart[s][u] for u in range(s, t)], 1)
            right = torch.stack([chart[u + 1][t] for u in range(s, t)], 1)
            scores = left[:, :, None, :, None] + right[:, :, None, None, :] + rule_scores[:, None]
            total = scores.permute(0, 2, 1, 3, 4).reshape(batch, self.nt_states, -1).logsumexp(-1)
            chart[s][t] = torch.cat([total, blocked_below], 1)
    return (chart[0][n - 1][:, : self.nt_states] + root_scores).logsumexp(1)
