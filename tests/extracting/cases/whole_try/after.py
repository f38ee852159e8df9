text = "x"
number = 0


def parse(number, text):
    try:
        number = 1
        number = int(text)
    except ValueError as error:
        print(number, type(error))
    return number


number = parse(number, text)
print(number)
