def eval(model):
    return model + 1


model = 1


def run(model):
    score = eval(model)
    return score


score = run(model)
print(score)
