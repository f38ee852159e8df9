def decode_rel_fr_shaking_tag(self, text, ent_shaking_tag, head_rel_shaking_tag, tail_rel_shaking_tag,
                              tok2char_span, tok_offset=0, char_offset=0):
    by_head = {}
    for first, last, tag in self.get_sharing_spots_fr_shaking_tag(ent_shaking_tag):
        if tag != self.tag2id_ent["ENT-H2T"]:
            continue
        chars = [tok2char_span[first][0], tok2char_span[last][1]]
        entity = {"text": " ".join(text[start:end] for start, end in tok2char_span[first : last + 1]), "tok_span": [first, last + 1], "char_span": chars}
        by_head.setdefault(first, []).append(entity)
    tails = set()
    for rel, first, second, tag in self.get_spots_fr_shaking_tag(tail_rel_shaking_tag):
        if tag == self.tag2id_tail_rel["REL-ST2OT"]:
            tails.add((rel, first, second))
        elif tag == self.tag2id_tail_rel["REL-OT2ST"]:
            tails.add((rel, second, first))
    result = []
    for rel, first, second, tag in self.get_spots_fr_shaking_tag(head_rel_shaking_tag):
        if tag == self.tag2id_head_rel["REL-OH2SH"]:
            first, second = second, first
        for subj in by_head.get(first, []):
            for obj in by_head.get(second, []):
                if (rel, subj["tok_span"][1] - 1, obj["tok_span"][1] - 1) not in tails:
                    continue
                result.append({
                    "subject": subj["text"],
                    "object": obj["text"],
                    "subj_tok_span": [place + tok_offset for place in subj["tok_span"]],
                    "obj_tok_span": [place + tok_offset for place in obj["tok_span"]],
                    "subj_char_span": [place + char_offset for place in subj["char_span"]],
                    "obj_char_span": [place + char_offset for place in obj["char_span"]],
                    "predicate": self.id2rel[rel],
                })
    return result
