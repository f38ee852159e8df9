# expect: LMR204
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
ARG DIR=Margin_Ranking
COPY ${DIR} /w/${DIR}
USER 1000
