def serve(items):
    while True:
        item = items.pop()
        if not items:
            return item


def f(items):
    print(len(items))
    return serve(items)


print(f([1, 2]))
