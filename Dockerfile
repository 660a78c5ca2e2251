# The operator: `llmservice run` as a numeric user, on a read-only root.
# Python's minor version stands here and in the path of site-packages below; nowhere else.
FROM docker.io/library/python:3.11-slim-bookworm AS build

WORKDIR /build
COPY requirements/runtime.lock ./
# Only wheels, each with its hash: nothing is built here, so nothing needs a compiler.
RUN python3 -m venv /opt/llmservice \
 && /opt/llmservice/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --only-binary=:all: --require-hashes --requirement runtime.lock \
 && /opt/llmservice/bin/pip uninstall --yes --quiet pip setuptools
COPY operator/llmservice /opt/llmservice/lib/python3.11/site-packages/llmservice
# A read-only root cannot keep bytecode: without it each start would compile everything anew.
RUN /opt/llmservice/bin/python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/llmservice/lib

FROM docker.io/library/python:3.11-slim-bookworm

LABEL org.opencontainers.image.title="llmservice-operator" \
      org.opencontainers.image.description="A Kubernetes operator that serves large language models" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/llmservice /opt/llmservice
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that the kubelet can see that it is not root.
USER 65532:65532
EXPOSE 8081 8443
ENTRYPOINT ["/opt/llmservice/bin/python3", "-m", "llmservice"]
CMD ["run"]
