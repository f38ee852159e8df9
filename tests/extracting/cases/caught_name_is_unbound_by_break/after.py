def work(error):
    shown = error
    return shown


def f(x):
    error = None
    while x:
        try:
            x = int(x)
        except ValueError as error:
            break
    shown = work(error)
    return shown
