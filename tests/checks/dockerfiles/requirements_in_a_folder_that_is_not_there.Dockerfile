# expect: LMR205 LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install --requirement=docs/requirements.txt
USER 1000
