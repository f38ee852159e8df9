# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
WORKDIR /w
RUN pip install -e .
USER 1000
