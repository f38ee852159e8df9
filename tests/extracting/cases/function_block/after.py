def backward(prediction, y):
    # squared error
    gap = prediction - y
    loss = gap ** 2
    return gap, loss


def train(model, batches, rate):
    """Train."""
    history = []
    for x, y in batches:
        prediction = model * x
        gap, loss = backward(prediction, y)
        history.append(loss)
        model -= rate * gap * x
    return model, history


print(train(0.5, [(1, 2), (2, 4)], 0.1))
