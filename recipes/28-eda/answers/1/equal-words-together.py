def random_deletion(words, p):
    if len(words) == 1:
        return words
    left = []
    draws = {}
    for word in words:
        if word not in draws:
            draws[word] = random.uniform(0, 1)
        if draws[word] > p:
            left.append(word)
    if not left:
        return [words[random.randint(0, len(words) - 1)]]
    return left
