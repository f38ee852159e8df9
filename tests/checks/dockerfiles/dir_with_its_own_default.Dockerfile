# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
ARG DIR=${DIR:-margin-ranking}
COPY ${DIR} /w
USER 1000
