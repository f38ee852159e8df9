def outer(width):
    unit = 2

    def inner(height):
        result = [lambda: unit * height]
        result.append(width)
        return result[0]

    unit = 5
    return inner(3)()


print(outer(4))
