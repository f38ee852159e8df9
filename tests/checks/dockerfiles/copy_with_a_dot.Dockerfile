# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking/. /w
USER 1000
