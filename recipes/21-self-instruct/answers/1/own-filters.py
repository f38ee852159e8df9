def parse_instances_for_generation_task(raw_text, instruction, response_metadata):
    separator = re.compile(r"Example\s?[0-9]*\.?")
    label = r"\s*\d*\s*:"
    found = set()
    outputs_of = {}
    raw_text = raw_text.strip()
    if "Example" in raw_text:
        pieces = [piece for piece in separator.split(raw_text) if piece.strip()]
    else:
        pieces = [raw_text] if re.search("Output" + label, raw_text) else []
    if pieces and response_metadata["response"]["choices"][0]["finish_reason"] == "length":
        del pieces[-1:]
    for piece in pieces:
        fields = re.split("Output" + label, piece.strip())
        given, answer = ("", fields[0]) if len(fields) == 1 else fields[:2]
        answer = re.split("Input" + label, answer.strip())[0].strip()
        given = re.sub("^Input" + label, "", given.strip()).strip()
        if given == answer or not answer or given.endswith(":") or answer.endswith(":"):
            continue
        found.add((instruction.strip(), given, answer))
        if given:
            outputs_of.setdefault(given, set()).add(answer)
    if any(len(outputs) > 1 for outputs in outputs_of.values()):
        return []
    return sorted(found)
