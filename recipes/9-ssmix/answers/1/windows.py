def ssmix(self, batch_size, input1, input2, length1, length2, saliency2, target1, max_len):
    lengths = length1.clamp(max=max_len)
    columns = torch.arange(input1["input_ids"].shape[1])
    over = (length1 > max_len).unsqueeze(1)
    mixed = {key: value.masked_fill(over & (columns >= max_len), 0) for key, value in input1.items()}
    mixed["input_ids"] = mixed["input_ids"].masked_fill(over & (columns == max_len - 1), 102)
    saliency1, _, _ = get_saliency(self.args, mixed, target1)
    ratio = torch.ones(batch_size, device=self.args.device)
    infinity = float("inf")
    for row in range(batch_size):
        inner = int(lengths[row]) - 2
        span = max(1, int(inner * (self.args.ss_winsize / 100.0)))
        if int(length2[row]) < span:
            continue
        ours = saliency1[row].unfold(0, span, 1).mean(-1)
        theirs = saliency2[row].unfold(0, span, 1).mean(-1)
        start = torch.arange(len(ours))
        ours = ours.masked_fill((start < 1) | (start + span > inner + 1), infinity)
        start = torch.arange(len(theirs))
        theirs = theirs.masked_fill((start < 1) | (start + span > int(length2[row]) - 1), -infinity)
        put = int(ours.argmin()) + torch.arange(span)
        take = int(theirs.argmax()) + torch.arange(span)
        mixed["input_ids"][row].index_copy_(0, put, input2["input_ids"][row].index_select(0, take))
        ratio[row] = 1 - span / inner
    return mixed, ratio
