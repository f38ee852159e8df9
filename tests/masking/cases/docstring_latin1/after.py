# -*- coding: latin-1 -*-
class A:
	def g(self):
		"""Größe \\n in \u4e2d"""
		# TODO: implement g.
		# \u4e2d
		raise NotImplementedError
