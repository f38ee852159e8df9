def last(items):
    for item in items:
        print(item)
    result = item * 2
    return result
