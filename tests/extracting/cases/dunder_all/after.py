__all__ = ["table"]
n = 2


def make(n):
    table = [i for i in range(n)]
    size = len(table)
    return table


table = make(n)
