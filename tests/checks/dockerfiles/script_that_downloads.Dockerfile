# expect: LMR210
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN bash /w/scripts/download_models.sh
USER 1000
