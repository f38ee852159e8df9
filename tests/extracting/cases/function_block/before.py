def train(model, batches, rate):
    """Train."""
    history = []
    for x, y in batches:
        prediction = model * x
        # squared error
        gap = prediction - y
        loss = gap ** 2
        history.append(loss)
        model -= rate * gap * x
    return model, history


print(train(0.5, [(1, 2), (2, 4)], 0.1))
