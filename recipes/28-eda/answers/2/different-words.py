def swap_word(new_words):
    last = len(new_words) - 1
    one = random.randint(0, last)
    other = random.randint(0, last)
    draws = 1
    while new_words[other] == new_words[one] and draws < 4:
        other = random.randint(0, last)
        draws += 1
    if draws < 4:
        new_words[one], new_words[other] = new_words[other], new_words[one]
    return new_words
