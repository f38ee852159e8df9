def random_deletion(words, p):
    if len(words) == 1:
        return words
    return [word for word in words if random.random() > p] or [random.choice(words)]
