code = "x = 1"
exec(code)
print(x)
