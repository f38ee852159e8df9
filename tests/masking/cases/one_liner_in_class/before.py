class A:
	def f(self): "doc"; return 1
	x = 1
