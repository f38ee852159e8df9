def swap_word(new_words):
    if len(new_words) > 1:
        one, other = random.sample(range(len(new_words)), 2)
        new_words[one], new_words[other] = new_words[other], new_words[one]
    return new_words
