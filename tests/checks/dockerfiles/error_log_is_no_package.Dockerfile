# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install numpy==1.26.4 2> err.txt
USER 1000
