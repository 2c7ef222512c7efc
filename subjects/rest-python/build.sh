# Builds the server in the current folder: `build.sh SOURCE`. Its packages, of the versions and with the hashes in requirements.txt, come from PyPI.
# Not a virtual environment, which would hold the path of this folder: packages in a folder of their own.
set -e
python3 -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes --target lib -r "$1/requirements.txt"
cp "$1/application.py" .
python3 -m compileall -q lib application.py
cat >run <<'RUN'
#!/bin/sh
PYTHONPATH="${0%/*}:${0%/*}/lib" exec python3 -m uvicorn application:application \
    --host 127.0.0.1 --port "$1" --loop uvloop --http httptools --no-access-log --log-level warning --backlog 1024
RUN
chmod +x run
