n = 4
import math
root = math.sqrt(n)
print(root)
