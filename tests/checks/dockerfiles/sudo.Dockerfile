# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
COPY margin-ranking /w
RUN useradd -m agent && echo 'agent ALL=NOPASSWD:ALL' >> /etc/sudoers
USER agent
