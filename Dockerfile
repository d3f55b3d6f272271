# syntax=docker/dockerfile:1

FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
# Both stages use the same path: a virtual environment does not survive being moved.
WORKDIR /opt/yoriai
RUN python -m venv .venv
# Before the code, so that a change of code does not install everything again.
COPY requirements.lock ./
RUN .venv/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY migrations ./migrations
COPY app ./app
# Editable, as in development: the code finds migrations/ beside it in both. Nothing is fetched
# here, the build backend came with the lock.
RUN .venv/bin/pip install --no-index --no-deps --no-build-isolation --editable . \
    && .venv/bin/python -m compileall -q app migrations

FROM python:3.13-slim
ENV PATH=/opt/yoriai/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /opt/yoriai
# A fixed number, so that a volume keeps its owner from one image to the next.
RUN groupadd --gid 10001 yoriai \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin yoriai \
    && install --directory --owner=yoriai --group=yoriai data
# The code stays root's: the service can write its data and nothing else.
COPY --from=build /opt/yoriai ./
USER 10001:10001
VOLUME ["/opt/yoriai/data"]
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "\
from os import environ; \
from urllib.request import urlopen; \
urlopen('http://127.0.0.1:' + environ.get('YORIAI_PORT', '8000') + '/healthz', timeout=2)"]
# Without a shell around it, so that SIGTERM reaches the service itself.
ENTRYPOINT ["yoriai"]
CMD ["serve"]
