# expect: LMR206 LMR406
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
RUN git clone https://example.org/code/margin-ranking /w
USER 1000
