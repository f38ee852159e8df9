def outer(width):
    unit = 2

    def inner(height):
        product = width * height
        product *= unit
        return product

    return inner(3)


print(outer(4))
