def cutmix(input, target):
    lam = np.random.beta(args.beta, args.beta)
    partner = torch.randperm(input.size(0)).cuda()
    x1, y1, x2, y2 = rand_bbox(input.size(), lam)
    input[:, :, x1:x2, y1:y2] = input[partner][:, :, x1:x2, y1:y2]

    return lam, target, target[partner]
