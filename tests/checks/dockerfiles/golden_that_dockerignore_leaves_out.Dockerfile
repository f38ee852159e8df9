# expect: LMR205
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY golden_files/losses_golden.py /w/check.py
COPY margin-ranking /w
USER 1000
