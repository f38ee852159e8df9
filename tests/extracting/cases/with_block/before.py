import io
with io.StringIO("a\nb\n") as file:
    lines = [line.strip() for line in file]
    count = len(lines)
print(lines, count)
