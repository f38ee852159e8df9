# expect: LMR207
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN <<EOF
pip install scipy
EOF
USER 1000
