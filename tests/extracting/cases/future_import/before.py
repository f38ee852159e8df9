from __future__ import annotations
import math
print(math.pi)
