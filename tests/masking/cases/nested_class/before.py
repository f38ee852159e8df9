class Outer:
	class Inner:
		@staticmethod
		def run(x, *, scale=lambda y: y):
			def inner(): return scale(x)
			return inner()

		last = 1
