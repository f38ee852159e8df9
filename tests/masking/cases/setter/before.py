class Box:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        if value < 0:
            raise ValueError
        self._size = value

    @size.deleter
    def size(self): del self._size
