# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install git+https://github.com/huggingface/peft.git@v0.3.0
USER 1000
