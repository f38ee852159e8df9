def measure(text):
    if text and (n := len(text)):
        print(n)
    return text


def f(text):
    return measure(text)
