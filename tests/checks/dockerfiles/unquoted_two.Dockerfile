# expect: LMR203 LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install numpy>=1.20 torch>2
USER 1000
