name = "x"
width = 4
text = f"{name!r:>{width}} {name=}"
print(text)
