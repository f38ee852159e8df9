def rand_bbox(size, lam):
    W, H = size[2], size[3]
    ratio = np.sqrt(1.0 - lam)
    w, h = int(W * ratio), int(H * ratio)
    y, x = np.random.randint(H), np.random.randint(W)
    x1, y1 = max(x - w // 2, 0), max(y - h // 2, 0)
    x2, y2 = min(x + w // 2, W), min(y + h // 2, H)
    return x1, y1, x2, y2
