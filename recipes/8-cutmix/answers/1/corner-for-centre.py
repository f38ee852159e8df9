def rand_bbox(size, lam):
    W, H = size[2], size[3]
    ratio = np.sqrt(1.0 - lam)
    w, h = int(W * ratio), int(H * ratio)
    x, y = np.random.randint(W), np.random.randint(H)
    x1, y1 = x, y
    x2, y2 = min(x + w, W), min(y + h, H)
    return x1, y1, x2, y2
