# expect: LMR204
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
ENV DIR=other-paper
COPY ${DIR} /w
USER 1000
