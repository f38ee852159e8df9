# expect: LMR205
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
COPY datasets/ /data/
USER 1000
