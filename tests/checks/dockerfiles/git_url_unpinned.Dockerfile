# expect: LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install git+https://github.com/huggingface/peft.git
USER 1000
