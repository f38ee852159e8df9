def decode_spans(begin, inside, end, *, longest=4, length_bonus=0.5, gap_cost=1.0, offset=1.0):
    """Score all spans, then accept the best ones that do not overlap with those accepted before."""
    spans = []
    for kind, name in enumerate(TYPES):
        for start in range(len(begin)):
            for stop in range(start + 1, min(len(begin), start + longest) + 1):
                mean = inside[start:stop, kind].mean()
                value = begin[start, kind] + end[stop - 1, kind] + mean
                value += length_bonus * math.log(stop - start) - offset
                spans.append(Mention(start, stop, name, float(value)))
    chosen = []
    for span in sorted(spans, key=lambda span: -span.score):
        if any(span.start < other.end and other.start < span.end for other in chosen):
            continue
        cost = 0.0
        for other in chosen:
            if other.type == span.type:
                gap = max(span.start - other.end, other.start - span.end)
                cost = max(cost, gap_cost / (1 + gap))
        if span.score - cost > 0:
            chosen.append(span)
    return sorted(chosen, key=lambda span: span.start)
