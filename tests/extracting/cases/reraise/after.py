def work(error):
    print("caught", error)
    raise


def f(x):
    try:
        return 1 // x
    except ZeroDivisionError as error:
        work(error)


try:
    f(0)
except ZeroDivisionError:
    print("again")
