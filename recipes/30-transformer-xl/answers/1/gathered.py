def forward(self, w, r, r_w_bias, r_r_bias, attn_mask=None, mems=None):
    context = w if mems is None else torch.cat((mems, w))
    visible = self.layer_norm(context) if self.pre_lnorm else context
    queries, batch, keys = w.shape[0], w.shape[1], context.shape[0]
    size = self.n_head * self.d_head
    projected = self.qkv_net(visible)
    shape = (-1, batch, self.n_head, self.d_head)
    query = projected[keys - queries :, :, :size].reshape(shape)
    key = projected[:, :, size : 2 * size].reshape(shape)
    value = projected[:, :, 2 * size :].reshape(shape)
    position = self.r_net(r).reshape(-1, self.n_head, self.d_head)

    content = torch.einsum("qbhd,kbhd->qkbh", query + r_w_bias, key)
    by_distance = torch.einsum("qbhd,phd->qpbh", query + r_r_bias, position)
    first = torch.arange(queries - 1, -1, -1, device=w.device)[:, None]
    row = (torch.arange(keys, device=w.device)[None] + first).clamp(max=keys - 1)
    row = row[:, :, None, None].expand(-1, -1, batch, self.n_head)
    scores = (content + by_distance.gather(1, row)) * self.scale

    if attn_mask is not None:
        mask = attn_mask[None] if attn_mask.dim() == 2 else attn_mask
        scores = scores.masked_fill(mask[..., None], float("-inf"))
    weights = self.dropatt(scores.softmax(dim=1))
    heads = torch.einsum("qkbh,kbhd->qbhd", weights, value).reshape(queries, batch, size)
    output = w + self.drop(self.o_net(heads))
    return output if self.pre_lnorm else self.layer_norm(output)
