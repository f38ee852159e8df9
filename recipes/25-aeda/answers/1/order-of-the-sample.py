def insert_punctuation_marks(sentence, punc_ratio=PUNC_RATIO):
    words = sentence.split(" ")
    number = random.randint(1, int(punc_ratio * len(words) + 1))
    positions = random.sample(range(len(words)), number)
    marks = {position: random.choice(PUNCTUATIONS) for position in positions}
    new = []
    for index, word in enumerate(words):
        if index in marks:
            new.append(marks[index])
        new.append(word)
    return " ".join(new)
