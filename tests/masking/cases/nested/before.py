def outer(k):
    def f(x):
        return x * k
    return f
