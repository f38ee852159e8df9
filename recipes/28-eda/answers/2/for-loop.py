def swap_word(new_words):
    last = len(new_words) - 1
    one = random.randint(0, last)
    for attempt in range(4):
        other = random.randint(0, last)
        if attempt < 3 and other != one:
            kept = new_words[one]
            new_words[one] = new_words[other]
            new_words[other] = kept
            break
    return new_words
