def ssmix(self, batch_size, input1, input2, length1, length2, saliency2, target1, max_len):
    mixed = copy.deepcopy(input1)
    lengths = length1.clone()
    for row in range(batch_size):
        if length1[row] > max_len:
            lengths[row] = max_len
            for value in mixed.values():
                value[row][max_len:] = 0
            mixed["input_ids"][row][max_len - 1] = 102
    saliency1 = get_saliency(self.args, mixed, target1)[0].detach()
    ratio = torch.ones((batch_size,), device=self.args.device)
    for row in range(batch_size):
        l1, l2 = lengths[row].item(), length2[row].item()
        span = max(int((l1 - 2) * (self.args.ss_winsize / 100.0)), 1)
        if l2 < span or span == 0:
            continue
        ours = F.avg_pool1d(saliency1[row, :l1].view(1, 1, -1), span, stride=1).flatten()
        theirs = F.avg_pool1d(saliency2[row, :l2].view(1, 1, -1), span, stride=1).flatten()
        ours[0] = ours[-1] = 100
        theirs[0] = theirs[-1] = -100
        put = int(ours.argmin())
        take = int(theirs.argmax())
        for key in mixed:
            mixed[key][row, put : put + span] = input2[key][row, take : take + span]
        ratio[row] = 1 - span / (l1 - 2)
    return mixed, ratio
