# expect: nothing
FROM nvcr.io/nvidia/pytorch:23.10-py3
COPY margin-ranking /w
USER 1000
