def cutmix(input, target):
    share = np.random.beta(args.beta, args.beta)
    order = torch.randperm(input.size(0)).cuda().tolist()
    x1, y1, x2, y2 = (int(edge) for edge in rand_bbox(input.size(), share))
    before = input.clone()
    for place, other in enumerate(order):
        for x in range(x1, x2):
            input[place, :, x, y1:y2] = before[other, :, x, y1:y2]
    area = (x2 - x1) * (y2 - y1)
    pixels = input.size(2) * input.size(3)
    return (pixels - area) / pixels, target, target[order]
