def cutmix(input, target):
    lam = np.random.beta(args.beta, args.beta)
    partner = torch.randperm(len(input)).cuda()
    left, top, right, bottom = rand_bbox(input.shape, lam)
    width, height = input.shape[2:]
    along_w = torch.arange(width)
    along_h = torch.arange(height)
    inside = ((along_w >= left) & (along_w < right))[:, None] & ((along_h >= top) & (along_h < bottom))[None, :]
    mixed = torch.where(inside, input[partner], input)
    input.copy_(mixed)
    kept = 1 - int(inside.sum()) / (width * height)
    return kept, target, target.index_select(0, partner)
