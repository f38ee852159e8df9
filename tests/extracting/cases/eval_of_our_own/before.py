def eval(model):
    return model + 1


model = 1
score = eval(model)
print(score)
