def work(error):
    shown = error
    return shown


def f(x):
    error = None
    try: int(x)
    except ValueError as error:
        pass
    shown = work(error)
    return shown
