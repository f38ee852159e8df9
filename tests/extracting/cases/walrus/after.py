def measure(text):
    if (n := len(text)) > 3 and n:
        print(n)
    return n


def f(text):
    n = 0
    n = measure(text)
    return n


print(f("hello"))
