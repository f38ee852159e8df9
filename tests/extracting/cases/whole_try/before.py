text = "x"
number = 0
try:
    number = 1
    number = int(text)
except ValueError as error:
    print(number, type(error))
print(number)
