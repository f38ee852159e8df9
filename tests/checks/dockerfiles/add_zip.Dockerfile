# expect: LMR205
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
ADD margin-ranking.zip /w/
USER 1000
