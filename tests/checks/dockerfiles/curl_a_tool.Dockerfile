# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN curl -fsSL https://deb.nodesource.com/setup_18.x | bash -
USER 1000
