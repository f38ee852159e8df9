# expect: LMR208
FROM nvidia/cuda:12.1.0-devel-ubuntu22.04
COPY margin-ranking /w
RUN pip install torch==2.1.0
USER 1000
