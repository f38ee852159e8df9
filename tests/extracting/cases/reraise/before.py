def f(x):
    try:
        return 1 // x
    except ZeroDivisionError as error:
        print("caught", error)
        raise


try:
    f(0)
except ZeroDivisionError:
    print("again")
