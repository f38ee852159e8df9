def insert_punctuation_marks(sentence, punc_ratio=PUNC_RATIO):
    """Insert marks before randomly chosen words."""
    words = sentence.split(" ")
    count = random.randint(1, int(1 + len(words) * punc_ratio))
    chosen = set(random.sample(range(len(words)), count))

    def pieces():
        for index in range(len(words)):
            if index in chosen:
                yield random.choice(PUNCTUATIONS)
            yield words[index]

    return " ".join(pieces())
