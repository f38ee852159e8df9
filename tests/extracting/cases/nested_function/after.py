def area(width, height, unit):
    product = width * height
    product *= unit
    return product


def outer(width):
    unit = 2

    def inner(height):
        product = area(width, height, unit)
        return product

    return inner(3)


print(outer(4))
