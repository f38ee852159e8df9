"""A script."""
import math

total = 0
values = [1, 2, 3]
for value in values:
    # the square
    square = value * value
    total += square
    print(math.sqrt(square), total)
print(total)
