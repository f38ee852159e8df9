# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
ENV HF_HOME=/cache TOKENIZERS_PARALLELISM=false
COPY margin-ranking /w
USER 1000
