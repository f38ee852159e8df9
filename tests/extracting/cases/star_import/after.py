from math import *
r = 2.0


def disc(r):
    area = pi * r ** 2
    area = floor(area)
    return area


area = disc(r)
print(area)
