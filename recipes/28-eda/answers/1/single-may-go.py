def random_deletion(words, p):
    left = []
    for word in words:
        if random.uniform(0, 1) > p:
            left.append(word)
    if not left and len(words) > 1:
        return [words[random.randint(0, len(words) - 1)]]
    return left
