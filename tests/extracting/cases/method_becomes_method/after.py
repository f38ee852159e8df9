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

    def hidden(self, h):
        h = h + self.size
        self.last = h
        return h

    def forward(self, x):
        h = x * self.scale
        return self.hidden(h)


m = Model()
print(m.forward(2), m.last, Model.check(3))
