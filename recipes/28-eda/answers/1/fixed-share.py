def random_deletion(words, p):
    if len(words) == 1:
        return words
    gone = random.sample(range(len(words)), int(p * len(words)))
    left = [word for index, word in enumerate(words) if index not in gone]
    if not left:
        return [words[random.randint(0, len(words) - 1)]]
    return left
