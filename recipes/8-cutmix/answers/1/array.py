def rand_bbox(size, lam):
    sides = np.array([size[2], size[3]])
    halves = np.floor(sides * (1.0 - lam) ** 0.5).astype(int) // 2
    middle = np.array([np.random.randint(side) for side in sides])
    first = np.maximum(middle - halves, 0)
    second = np.minimum(middle + halves, sides)
    return first[0], first[1], second[0], second[1]
