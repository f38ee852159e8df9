import io


def read(file):
    lines = [line.strip() for line in file]
    count = len(lines)
    return lines, count


with io.StringIO("a\nb\n") as file:
    lines, count = read(file)
print(lines, count)
