class Box:
    pass

box, seen, table, text = Box(), [], {}, "a"
names = []
print(text)


def fill(seen, text, table, box, names):
    seen.append(text)
    table[text] = 1
    box.size = 2
    names = names + [text]
    upper = text.upper()
    return names, upper


names, upper = fill(seen, text, table, box, names)
print(seen, table, box.size, names, upper)
