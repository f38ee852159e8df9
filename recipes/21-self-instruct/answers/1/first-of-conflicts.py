def parse_instances_for_generation_task(raw_text, instruction, response_metadata):
    raw_text = raw_text.strip()
    separator = r"Example\s?\d*\.?"
    if re.search(separator, raw_text):
        parts = [part.strip() for part in re.split(separator, raw_text)]
        parts = [part for part in parts if part]
    elif re.search(r"Output\s*\d*\s*:", raw_text):
        parts = [raw_text]
    else:
        return []
    rows = []
    for part in parts:
        given, answer = parse_input_output(part)
        rows.append((instruction.strip(), given.strip(), answer.strip()))
    if response_metadata["response"]["choices"][0]["finish_reason"] == "length":
        rows = rows[:-1]
    rows = filter_invalid_instances(rows)
    kept = {}
    for row in rows:
        kept.setdefault(row[1] or row, row)
    return list(kept.values())
