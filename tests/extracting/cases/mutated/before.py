class Box:
    pass

box, seen, table, text = Box(), [], {}, "a"
names = []
print(text)
seen.append(text)
table[text] = 1
box.size = 2
names = names + [text]
upper = text.upper()
print(seen, table, box.size, names, upper)
