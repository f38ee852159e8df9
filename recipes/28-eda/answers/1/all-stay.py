def random_deletion(words, p):
    if len(words) == 1:
        return words
    left = []
    for word in words:
        if random.uniform(0, 1) > p:
            left.append(word)
    if not left:
        return words
    return left
