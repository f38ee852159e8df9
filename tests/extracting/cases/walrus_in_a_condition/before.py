def f(text):
    if text and (n := len(text)):
        print(n)
    return text
