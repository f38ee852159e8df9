# expect: LMR206 LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking/requirements.txt /w/
RUN pip install -r /w/requirements.txt
USER 1000
