def rand_bbox(size, lam):
    lower, upper = [], []
    for length in size[2:4]:
        half = int(length * np.sqrt(1 - lam)) // 2
        centre = int(np.random.randint(length))
        lower.append(max(0, centre - half))
        upper.append(min(length, centre + half))
    return (*lower, *upper)
