from contextlib import suppress

n = 0
with suppress(ZeroDivisionError):
    print(n)
    n = 1; n = 1 // 0
print(n)
