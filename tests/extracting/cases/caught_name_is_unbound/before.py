def f(x):
    error = None
    try: int(x)
    except ValueError as error:
        pass
    shown = error
    return shown
