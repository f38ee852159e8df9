"""A script."""
import math

total = 0
values = [1, 2, 3]


def step(value, total):
    # the square
    square = value * value
    total += square
    print(math.sqrt(square), total)
    return total


for value in values:
    total = step(value, total)
print(total)
