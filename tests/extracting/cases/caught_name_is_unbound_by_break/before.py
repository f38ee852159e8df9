def f(x):
    error = None
    while x:
        try:
            x = int(x)
        except ValueError as error:
            break
    shown = error
    return shown
