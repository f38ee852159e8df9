def f(x):
    if x:
        message = f"no {x}"
        raise ValueError(message)
    return x


try:
    f(1)
except ValueError as error:
    print(error)
