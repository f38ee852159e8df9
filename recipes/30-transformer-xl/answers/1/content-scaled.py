def forward(self, w, r, r_w_bias, r_r_bias, attn_mask=None, mems=None):
    context = w if mems is None else torch.cat([mems, w], dim=0)
    normed = self.layer_norm(context) if self.pre_lnorm else context
    length, batch, _ = w.shape

    def split(x):
        return x.view(x.size(0), batch, self.n_head, self.d_head).permute(1, 2, 0, 3)

    query, key, value = (split(part) for part in self.qkv_net(normed).chunk(3, dim=2))
    query = query[:, :, -length:]
    position = self.r_net(r.squeeze(1)).view(r.size(0), self.n_head, self.d_head).permute(1, 2, 0)

    scores = (query + r_w_bias[None, :, None]).matmul(key.transpose(2, 3))
    placed = (query + r_r_bias[None, :, None]).matmul(position)
    placed = self._rel_shift(placed.permute(2, 3, 0, 1).contiguous())
    scores = scores.permute(2, 3, 0, 1) * self.scale + placed
    if attn_mask is not None and attn_mask.dim() == 3:
        scores = scores.masked_fill(attn_mask.unsqueeze(3), -float("inf"))
    elif attn_mask is not None:
        scores = scores.masked_fill(attn_mask.unsqueeze(0).unsqueeze(3), -float("inf"))
    weights = self.dropatt(torch.softmax(scores, 1))

    seen = weights.permute(2, 3, 0, 1).matmul(value)
    seen = seen.permute(2, 0, 1, 3).reshape(length, batch, self.n_head * self.d_head)
    result = w + self.drop(self.o_net(seen))
    if not self.pre_lnorm:
        result = self.layer_norm(result)
    return result
