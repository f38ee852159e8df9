def f(items):
    print(len(items))
    while True:
        item = items.pop()
        if not items:
            return item


print(f([1, 2]))
