def beam_search(mat: np.ndarray, chars: str, beam_width: int = 25, lm: Optional[LanguageModel] = None) -> str:
    """Beam search decoder."""
    with np.errstate(divide="ignore"):
        logs = np.log(mat)
        first = np.array([lm.get_char_unigram(c) for c in chars]) if lm else np.ones(len(chars))
        pairs = np.array([[lm.get_char_bigram(c, d) for d in chars] for c in chars]) if lm else None
        first = 0.01 * np.log(first)
        pairs = 0.01 * np.log(pairs) if lm else np.zeros((len(chars), len(chars)))
    current = {(): [0.0, -np.inf, 0.0]}

    def best(beams, count, by_length=False):
        def key(labels):
            ends_blank, ends_char, text = beams[labels]
            return np.logaddexp(ends_blank, ends_char) + (text / (len(labels) or 1) if by_length else text)

        return sorted(beams, key=key, reverse=True)[:count]

    for frame in logs:
        following = {}
        for labels in best(current, beam_width):
            ends_blank, ends_char, text = current[labels]
            both = np.logaddexp(ends_blank, ends_char)
            stay = following.setdefault(labels, [-np.inf, -np.inf, text])
            stay[0] = np.logaddexp(stay[0], both + frame[-1])
            extended = both + frame[:-1]
            scores = text + (pairs[labels[-1]] if labels else first)
            if labels:
                stay[1] = np.logaddexp(stay[1], ends_char + frame[labels[-1]])
                extended[labels[-1]] = ends_blank + frame[labels[-1]]
            for label in range(len(frame) - 1):
                child = following.setdefault(labels + (label,), [-np.inf, -np.inf, scores[label]])
                child[1] = np.logaddexp(child[1], extended[label])
        current = following
    return "".join(chars[label] for label in best(current, 1, by_length=True)[0])
