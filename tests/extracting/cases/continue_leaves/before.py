for x in [1, 2]:
    for y in [1]:
        print(y)
    continue
