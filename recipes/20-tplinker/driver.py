"""Tag sentences, with more than one blank in many names, and decode the tags, complete, in part and with noise."""

import random
import re

import torch

from tplinker.tplinker import HandshakingTaggingScheme

RELATIONS = {"born_in": 0, "works_for": 1, "part_of": 2}


def spans(text):
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def relation(subject, predicate, obj):
    return {"subj_tok_span": list(subject), "obj_tok_span": list(obj), "predicate": predicate}


SAMPLES = [
    ("Ada  Lovelace was born in London , a part of England .", [((0, 2), "born_in", (5, 6)), ((5, 6), "part_of", (9, 10))]),
    ("In New  York City lives Bob , who works for City   Bank .", [((5, 6), "born_in", (1, 4)), ((5, 6), "born_in", (1, 3)), ((5, 6), "works_for", (10, 12))]),
    ("The Bank  of England has a branch in England", [((1, 4), "part_of", (3, 4)), ((3, 4), "part_of", (1, 4)), ((1, 2), "part_of", (1, 4))]),
    ("Self\nlove", [((0, 1), "part_of", (0, 1)), ((0, 2), "part_of", (0, 1)), ((0, 1), "works_for", (0, 2))]),
    ("Coca-Cola's bottler sits in St. John's", [((0, 3), "part_of", (8, 12)), ((0, 6), "part_of", (0, 3)), ((0, 6), "born_in", (8, 12))]),
    ("nothing   to see here", []),
]

for text, triples in SAMPLES:
    tokens = spans(text)
    for size in (len(tokens), len(tokens) + 3):
        scheme = HandshakingTaggingScheme(RELATIONS, size)
        tok2char = tokens + [(-1, -1)] * (size - len(tokens))
        sample = {"relation_list": [relation(*triple) for triple in triples]}
        entity, head, tail = scheme.get_spots(sample)
        tags = scheme.sharing_spots2shaking_tag(entity), scheme.spots2shaking_tag(head), scheme.spots2shaking_tag(tail)
        for offsets in ({}, {"tok_offset": 7, "char_offset": 40}):
            for found in scheme.decode_rel_fr_shaking_tag(text, *tags, tok2char, **offsets):
                print(found)
        scheme.decode_rel_fr_shaking_tag(text, tags[0], tags[1], torch.zeros_like(tags[2]), tok2char)
        scheme.decode_rel_fr_shaking_tag(text, torch.zeros_like(tags[0]), tags[1], tags[2], tok2char, 1, 2)
        scheme.decode_rel_fr_shaking_tag(text, tags[0], tags[1], tags[2].roll(1, 0), tok2char)
        # A model's tags: tails point the other way, and there are entities that no relation has.
        flipped = torch.where(tags[2] > 0, 3 - tags[2], tags[2])
        scheme.decode_rel_fr_shaking_tag(text, tags[0], tags[1], flipped, tok2char, char_offset=3)
        flipped = torch.where(tags[1] > 0, 3 - tags[1], tags[1])
        scheme.decode_rel_fr_shaking_tag(text, tags[0], flipped, tags[2], tok2char, tok_offset=2)

text = "a  bb  ccc  dddd  eeeee"
scheme = HandshakingTaggingScheme(RELATIONS, 5)
for seed in range(8):
    random.seed(seed)
    noise = [torch.tensor([int(random.random() < 0.5) for _ in range(15)])]
    for _ in range(2):
        noise.append(torch.tensor([[random.choice((0, 1, 2)) for _ in range(15)] for _ in RELATIONS]))
    print(len(scheme.decode_rel_fr_shaking_tag(text, *noise, spans(text), seed, 10 * seed)))
