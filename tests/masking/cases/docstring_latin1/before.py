# -*- coding: latin-1 -*-
class A:
	def g(self):
		return 1
