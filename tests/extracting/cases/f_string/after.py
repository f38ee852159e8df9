name = "x"
width = 4


def label(name, width):
    text = f"{name!r:>{width}} {name=}"
    return text


text = label(name, width)
print(text)
