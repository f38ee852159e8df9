import sys


def load(n):
    return list(range(n))

if __name__ == "__main__":
    data = load(3)
    loss = sum(data)
    print(loss, len(sys.argv) > 0)
