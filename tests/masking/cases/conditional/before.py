try:
    import torch
except ImportError:
    def softmax(x): return x
else:
    def softmax(x):
        y = torch.exp(x)
        return y / y.sum()
