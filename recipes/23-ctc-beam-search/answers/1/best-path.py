def beam_search(mat: np.ndarray, chars: str, beam_width: int = 25, lm: Optional[LanguageModel] = None) -> str:
    blank = len(chars)
    last = BeamList()
    last.entries[()] = BeamEntry(pr_total=log(1), pr_blank=log(1))
    for t in range(mat.shape[0]):
        curr = BeamList()
        for labels in last.sort_labelings()[:beam_width]:
            old = last.entries[labels]
            stays = old.pr_non_blank + log(mat[t, labels[-1]]) if labels else log(0)
            blanks = old.pr_total + log(mat[t, blank])
            beam = curr.entries[labels]
            beam.labeling = labels
            beam.pr_non_blank = max(beam.pr_non_blank, stays)
            beam.pr_blank = max(beam.pr_blank, blanks)
            beam.pr_total = max(beam.pr_total, max(blanks, stays))
            beam.pr_text = old.pr_text
            beam.lm_applied = True
            for c in range(mat.shape[1] - 1):
                before = old.pr_blank if labels and labels[-1] == c else old.pr_total
                score = before + log(mat[t, c])
                child = curr.entries[labels + (c,)]
                child.labeling = labels + (c,)
                child.pr_non_blank = max(child.pr_non_blank, score)
                child.pr_total = max(child.pr_total, score)
                apply_lm(beam, child, chars, lm)
        last = curr
    last.normalize()
    return "".join(chars[label] for label in last.sort_labelings()[0])
