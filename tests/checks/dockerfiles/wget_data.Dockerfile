# expect: LMR210
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN wget https://example.org/glove.zip && unzip glove.zip
USER 1000
