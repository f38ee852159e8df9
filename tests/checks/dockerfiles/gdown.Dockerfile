# expect: LMR210
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install gdown==4.7.1 && gdown 1abc
USER 1000
