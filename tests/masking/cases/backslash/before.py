def f(a, \
      b): \
    return a \
        + b
y = 1
