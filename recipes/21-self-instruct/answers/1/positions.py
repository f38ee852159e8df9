def parse_instances_for_generation_task(raw_text, instruction, response_metadata):
    text = raw_text.strip()
    marks = [match.span() for match in re.finditer(r"Example\s?\d*\.?", text)]
    if marks:
        starts = [0] + [end for _, end in marks]
        ends = [start for start, _ in marks] + [len(text)]
        parts = [text[start:end].strip() for start, end in zip(starts, ends)]
    elif re.search(r"Output\s*\d*\s*:", text):
        parts = [text]
    else:
        return []
    rows = [(instruction.strip(), *parse_input_output(part)) for part in parts if part]
    if response_metadata["response"]["choices"][0]["finish_reason"] == "length" and rows:
        rows.pop()
    rows = filter_invalid_instances(rows)
    answers = {}
    for _, given, answer in rows:
        if given and answers.setdefault(given, answer) != answer:
            return []
    return list(dict.fromkeys(rows))
