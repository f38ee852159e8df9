def f(items):
    made = []
    for n in range(2):
        print(n)
        made.append(sum(i * n for i in items))
    return made


print(f([1, 2]))
