from math import *
r = 2.0
area = pi * r ** 2
area = floor(area)
print(area)
