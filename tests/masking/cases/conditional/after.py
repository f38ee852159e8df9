try:
    import torch
except ImportError:
    def softmax(x): return x
else:
    def softmax(x):
        # TODO: implement softmax.
        raise NotImplementedError
