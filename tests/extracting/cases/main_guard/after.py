import sys


def load(n):
    return list(range(n))


def train():
    data = load(3)
    loss = sum(data)
    return loss


if __name__ == "__main__":
    loss = train()
    print(loss, len(sys.argv) > 0)
