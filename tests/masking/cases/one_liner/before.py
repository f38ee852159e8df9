def f(x): return x; y = 2  # solution
z = 1
