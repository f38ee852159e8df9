class Base:
    def hello(self, name):
        return "hello " + name


class Child(Base):
    def hello(self, name):
        print(name)
        text = super().hello(name)
        text += "!"
        return text


print(Child().hello("a"))
