import functools


def work(x):
    y = x * 2
    return y


# cached
@functools.lru_cache(
    maxsize=None
)
def f(x):
    y = work(x)
    return y


print(f(2))
