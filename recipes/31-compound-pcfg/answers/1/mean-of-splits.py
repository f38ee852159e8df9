def _inside(self, unary_scores, rule_scores, root_scores):
    count, words, _ = unary_scores.shape
    first = self.nt_states
    inside = {(word, word + 1): unary_scores[:, word] for word in range(words)}

    def children(begin, end):
        return slice(first, self.states) if end - begin == 1 else slice(0, first)

    for length in range(2, words + 1):
        for begin in range(words - length + 1):
            end = begin + length
            trees = []
            for middle in range(begin + 1, end):
                rules = rule_scores[:, :, children(begin, middle), children(middle, end)]
                left, right = inside[begin, middle], inside[middle, end]
                pairs = rules + left[:, None, :, None] + right[:, None, None, :]
                trees.append(pairs.flatten(2))
            total = torch.logsumexp(torch.cat(trees, dim=2), dim=2)
            inside[begin, end] = total - torch.tensor(float(length - 1)).log()
    return torch.logsumexp(inside[0, words] + root_scores, dim=1)
