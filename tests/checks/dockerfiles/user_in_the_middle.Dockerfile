# expect: LMR209
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
USER 1000
COPY margin-ranking /w
USER root
RUN apt-get update
