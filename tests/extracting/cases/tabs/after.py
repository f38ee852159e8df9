def work(x):
	y = x
	if y > 1:
		y -= 1
	return y


def f(x):
	if x:
		y = work(x)
		return y


print(f(2))
