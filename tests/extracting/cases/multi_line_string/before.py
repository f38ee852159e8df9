def f(name):
        print("deep")
        if name:
                a = """one
  two
"""
                b = f"""{name}
three {
name}"""
                c = ("x"
                     "y" +
   name)
                return a + b + c


print(f("n"))
