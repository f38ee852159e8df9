# expect: LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN pip install torch torchvision --index-url https://download.pytorch.org/whl/cu121
USER 1000
