# expect: nothing
FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
RUN --mount=type=bind,source=margin-ranking,target=/src cp -r /src /w
USER 1000
