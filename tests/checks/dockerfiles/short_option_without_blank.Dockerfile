# expect: LMR205
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install -rrequirements-gpu.txt
USER 1000
