def f(x):
	if x:
		y = x
		if y > 1:
			y -= 1
		return y


print(f(2))
