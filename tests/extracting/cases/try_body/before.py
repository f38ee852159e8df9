text = "12"
number = 0
rest = ""
try:
    value = int(text)
    number = value + 1
except ValueError:
    rest = text
print(number, rest)
