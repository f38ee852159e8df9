def add_one(y):
    return y * 2


class Model:
    """A model."""

    scale = 2

    @property
    def size(self):
        return 3

    # runs the model
    @staticmethod
    def check(x):
        y = x + 1
        return add_one(y)

    def forward(self, x):
        h = x * self.scale
        h = h + self.size
        self.last = h
        return h


m = Model()
print(m.forward(2), m.last, Model.check(3))
