class Box:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        # TODO: implement size.
        raise NotImplementedError

    @size.deleter
    def size(self): del self._size
