import math
from math import pi as PI
RATE = 2
size = 3

def square(x):
    return x * x

class Box:
    pass


def area(size):
    result = square(size) * PI * RATE + math.e
    print(result, Box.__name__)


area(size)
