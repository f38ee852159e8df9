def insert_punctuation_marks(sentence, punc_ratio=PUNC_RATIO):
    new = []
    for word in sentence.split(" "):
        if random.random() < punc_ratio:
            new.append(PUNCTUATIONS[random.randint(0, len(PUNCTUATIONS) - 1)])
        new.append(word)
    return " ".join(new)
