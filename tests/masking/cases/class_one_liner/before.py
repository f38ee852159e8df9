class A: f = 0
class A(A):
  x = 1; y = 2
  def f(self): return self.x; "unreachable"
  g = f
