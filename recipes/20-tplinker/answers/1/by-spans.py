def decode_rel_fr_shaking_tag(self, text, ent_shaking_tag, head_rel_shaking_tag, tail_rel_shaking_tag,
                              tok2char_span, tok_offset=0, char_offset=0):
    spans = [
        (start, last + 1)
        for start, last, tag in self.get_sharing_spots_fr_shaking_tag(ent_shaking_tag)
        if tag == self.tag2id_ent["ENT-H2T"]
    ]
    names = self.id2tag_tail_rel

    def linked(relation, subject_last, object_last):
        low, high = min(subject_last, object_last), max(subject_last, object_last)
        tag = names[int(tail_rel_shaking_tag[relation][self.matrix_ind2shaking_ind[low][high]])]
        if subject_last == object_last:
            return tag != "O"
        return tag == ("REL-ST2OT" if subject_last < object_last else "REL-OT2ST")

    def described(role, span):
        chars = tok2char_span[span[0]][0], tok2char_span[span[1] - 1][1]
        short = {"subject": "subj", "object": "obj"}[role]
        return {
            role: text[chars[0]:chars[1]],
            f"{short}_tok_span": [place + tok_offset for place in span],
            f"{short}_char_span": [place + char_offset for place in chars],
        }

    relations = []
    for relation, low, high, tag in self.get_spots_fr_shaking_tag(head_rel_shaking_tag):
        heads = (low, high) if self.id2tag_head_rel[tag] == "REL-SH2OH" else (high, low)
        for subject in spans:
            for obj in spans:
                if (subject[0], obj[0]) == heads and linked(relation, subject[1] - 1, obj[1] - 1):
                    relations.append(
                        {**described("subject", subject), **described("object", obj), "predicate": self.id2rel[relation]}
                    )
    return relations
