def text(name):
        a = """one
  two
"""
        b = f"""{name}
three {
name}"""
        c = ("x"
                     "y" +
        name)
        return a, b, c


def f(name):
        print("deep")
        if name:
                a, b, c = text(name)
                return a + b + c


print(f("n"))
