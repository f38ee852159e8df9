import functools


# cached
@functools.lru_cache(
    maxsize=None
)
def f(x):
    y = x * 2
    return y


print(f(2))
