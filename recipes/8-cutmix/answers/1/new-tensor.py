def cutmix(input, target):
    lam = np.random.beta(args.beta, args.beta)
    partner = torch.randperm(input.size(0)).cuda()
    x1, y1, x2, y2 = rand_bbox(input.size(), lam)
    other = input[partner]
    input = input.clone()
    input[:, :, x1:x2, y1:y2] = other[:, :, x1:x2, y1:y2]
    lam = 1 - (x2 - x1) * (y2 - y1) / (input.size(-1) * input.size(-2))
    return lam, target, target[partner]
