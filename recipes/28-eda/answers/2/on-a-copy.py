def swap_word(new_words):
    words = list(new_words)
    first = random.randrange(len(words))
    second, draws = random.randrange(len(words)), 1
    while second == first and draws < 4:
        second, draws = random.randrange(len(words)), draws + 1
    if draws < 4:
        words[first], words[second] = words[second], words[first]
    return words
