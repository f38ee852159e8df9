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
        return y * 2

    def forward(self, x):
        h = x * self.scale
        h = h + self.size
        self.last = h
        return h


m = Model()
print(m.forward(2), m.last, Model.check(3))
