# expect: LMR210
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN python -m spacy download en_core_web_sm
USER 1000
