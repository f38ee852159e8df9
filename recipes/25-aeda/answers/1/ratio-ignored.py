def insert_punctuation_marks(sentence, punc_ratio=PUNC_RATIO):
    words = sentence.split(" ")
    number = random.randint(1, int(PUNC_RATIO * len(words) + 1))
    positions = random.sample(range(len(words)), number)
    new = []
    for index, word in enumerate(words):
        if index in positions:
            new.append(PUNCTUATIONS[random.randint(0, len(PUNCTUATIONS) - 1)])
        new.append(word)
    return " ".join(new)
