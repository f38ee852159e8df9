import sys
name = "default"


def choose(name):
    if len(sys.argv) > 5:
        name = sys.argv[5]
    return name


# override
name = choose(name)
print(name)
