def show(item):
    result = item * 2
    return result


def last(items):
    for item in items:
        print(item)
    result = show(item)
    return result
