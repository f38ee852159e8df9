def f(text):
    n = 0
    if (n := len(text)) > 3 and n:
        print(n)
    return n


print(f("hello"))
