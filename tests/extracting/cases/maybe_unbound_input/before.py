import sys
if len(sys.argv) > 5:
    name = "x"
print("begin"); print(name)
