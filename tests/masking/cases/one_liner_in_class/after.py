class A:
	def f(self):
		"doc"
		# TODO: implement f.
		raise NotImplementedError
	x = 1
