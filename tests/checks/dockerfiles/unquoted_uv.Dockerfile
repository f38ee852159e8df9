# expect: LMR203 LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN uv pip install --system numpy>=1.20
USER 1000
