def beam_search(mat: np.ndarray, chars: str, beam_width: int = 25, lm: Optional[LanguageModel] = None) -> str:
    """Beam search decoder."""
    steps, columns = mat.shape
    blank = len(chars)

    def text_score(labels):
        if not lm or not labels:
            return 0.0
        probabilities = [lm.get_char_unigram(chars[labels[0]])]
        probabilities += [lm.get_char_bigram(chars[a], chars[b]) for a, b in zip(labels, labels[1:])]
        return sum(0.01 * log(p) for p in probabilities)

    def ranked(beams, weight=lambda labels: 1.0):
        # sorted is stable, so equals stay in the order in which they came about
        return sorted(
            beams, key=lambda labels: -(np.logaddexp(*beams[labels]) + weight(labels) * text_score(labels))
        )

    beams = {(): (0.0, -np.inf)}  # logarithms: ends with a blank, ends with a character
    for t in range(steps):
        frame = [log(p) for p in mat[t]]
        new = {}

        def add(labels, ends_blank, ends_char):
            old_blank, old_char = new.get(labels, (-np.inf, -np.inf))
            new[labels] = (np.logaddexp(old_blank, ends_blank), np.logaddexp(old_char, ends_char))

        for labels in ranked(beams)[:beam_width]:
            with_blank, with_char = beams[labels]
            total = np.logaddexp(with_blank, with_char)
            add(labels, total + frame[blank], with_char + frame[labels[-1]] if labels else -np.inf)
            for c in range(columns - 1):
                before = with_blank if labels and labels[-1] == c else total
                add((*labels, c), -np.inf, before + frame[c])
        beams = new
    best = ranked(beams, lambda labels: 1.0 / max(1, len(labels)))[0]
    return "".join(chars[label] for label in best)
