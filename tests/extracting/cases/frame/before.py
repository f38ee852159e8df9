import sys

def f():
    name = sys._getframe().f_code.co_name
    return name
