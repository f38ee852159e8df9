class Base:
    def hello(self, name):
        return "hello " + name


class Child(Base):
    def greeting(self, name):
        text = super().hello(name)
        text += "!"
        return text

    def hello(self, name):
        print(name)
        text = self.greeting(name)
        return text


print(Child().hello("a"))
