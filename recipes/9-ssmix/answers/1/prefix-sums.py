def ssmix(self, batch_size, input1, input2, length1, length2, saliency2, target1, max_len):
    result = {key: value.clone() for key, value in input1.items()}
    for row, length in enumerate(length1.tolist()):
        if length > max_len:
            for value in result.values():
                value[row, max_len:] = 0
            result["input_ids"][row, max_len - 1] = 102
    saliency1 = get_saliency(self.args, result, target1)[0]

    def best_start(values, span, sign):
        sums = [0.0]
        for value in values:
            sums.append(sums[-1] + value)
        starts = range(1, len(values) - span)
        return min(starts, key=lambda start: sign * (sums[start + span] - sums[start]))

    stayed = []
    for row in range(batch_size):
        first, second = min(int(length1[row]), max_len), int(length2[row])
        span = int((first - 2) * (self.args.ss_winsize / 100)) or 1
        if second < span:
            stayed.append(1.0)
            continue
        put = best_start(saliency1[row, :first].double().tolist(), span, 1)
        take = best_start(saliency2[row, :second].double().tolist(), span, -1)
        result["input_ids"][row, put : put + span] = input2["input_ids"][row, take : take + span]
        stayed.append(1 - span / (first - 2))
    return result, torch.tensor(stayed, device=self.args.device)
