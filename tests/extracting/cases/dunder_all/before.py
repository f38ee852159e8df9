__all__ = ["table"]
n = 2
table = [i for i in range(n)]
size = len(table)
