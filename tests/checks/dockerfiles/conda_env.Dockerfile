# expect: LMR205
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /workspace/margin-ranking
COPY margin-ranking/environment.yml /tmp/
RUN conda env create -f /tmp/environment.yml
USER 1000
