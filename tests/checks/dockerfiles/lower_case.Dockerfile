# expect: nothing
from pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
copy margin-ranking /w
run pip install numpy==1.26.4
user 1000
