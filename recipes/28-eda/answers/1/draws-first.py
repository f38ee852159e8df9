def random_deletion(words, p):
    count = len(words)
    if count == 1:
        return list(words)
    numbers = [random.uniform(0, 1) for _ in range(count)]
    kept = [index for index in range(count) if numbers[index] > p]
    if not kept:
        kept = [random.randrange(count)]
    return [words[index] for index in kept]
