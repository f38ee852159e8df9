def insert_punctuation_marks(sentence, punc_ratio=PUNC_RATIO):
    pieces = sentence.split(" ")
    number = random.randint(1, int(punc_ratio * len(pieces) + 1))
    positions = sorted(random.sample(range(len(pieces)), number))
    marks = [PUNCTUATIONS[random.randrange(len(PUNCTUATIONS))] for _ in positions]
    for position, mark in reversed(list(zip(positions, marks))):
        pieces.insert(position, mark)
    return " ".join(pieces)
