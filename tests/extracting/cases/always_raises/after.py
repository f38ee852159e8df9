def fail(x):
    message = f"no {x}"
    raise ValueError(message)


def f(x):
    if x:
        fail(x)
    return x


try:
    f(1)
except ValueError as error:
    print(error)
