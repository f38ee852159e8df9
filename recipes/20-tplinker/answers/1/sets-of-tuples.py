def decode_rel_fr_shaking_tag(self, text, ent_shaking_tag, head_rel_shaking_tag, tail_rel_shaking_tag,
                              tok2char_span, tok_offset=0, char_offset=0):
    pairs = self.shaking_ind2matrix_ind
    entities = {}
    for (place,) in (ent_shaking_tag == 1).nonzero().tolist():
        start, last = pairs[place]
        chars = [tok2char_span[start][0], tok2char_span[last][1]]
        entities.setdefault(start, []).append((start, last, chars))
    tails = set()
    for relation, place in tail_rel_shaking_tag.nonzero().tolist():
        first, second = pairs[place]
        forward = int(tail_rel_shaking_tag[relation, place]) == 1
        tails.add((relation, first, second) if forward else (relation, second, first))
    found = []
    for relation, place in head_rel_shaking_tag.nonzero().tolist():
        subject_head, object_head = pairs[place]
        if int(head_rel_shaking_tag[relation, place]) == 2:
            subject_head, object_head = object_head, subject_head
        for s_start, s_last, s_chars in entities.get(subject_head, ()):
            for o_start, o_last, o_chars in entities.get(object_head, ()):
                if (relation, s_last, o_last) in tails:
                    found.append({
                        "subject": text[slice(*s_chars)],
                        "object": text[slice(*o_chars)],
                        "subj_tok_span": [s_start + tok_offset, s_last + 1 + tok_offset],
                        "obj_tok_span": [o_start + tok_offset, o_last + 1 + tok_offset],
                        "subj_char_span": [s_chars[0] + char_offset, s_chars[1] + char_offset],
                        "obj_char_span": [o_chars[0] + char_offset, o_chars[1] + char_offset],
                        "predicate": self.id2rel[relation],
                    })
    return found
