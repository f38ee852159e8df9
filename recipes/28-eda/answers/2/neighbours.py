def swap_word(new_words):
    if len(new_words) > 1:
        one = random.randint(0, len(new_words) - 2)
        new_words[one], new_words[one + 1] = new_words[one + 1], new_words[one]
    return new_words
