#!/usr/bin/env bash
# Makes .venv from requirements.lock: with uv if present, else python3 -m venv, else after
# installing Debian's python3-venv as root, else one sentence says what to do.
# A stamp records what .venv was made from; when it still holds, this script ends at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly stamp=.venv/sciagent-setup.sha256

fingerprint() {
    # The folder belongs to it: the scripts of a copied .venv would start the original's interpreter.
    { pwd; cat pyproject.toml requirements.lock scripts/setup-environment.sh; } | sha256sum
}

is_current() {
    [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]
}

fail() {
    echo "$*" >&2
    exit 2
}

has_uv() {
    uv --version >/dev/null 2>&1
}

# Prints the first interpreter that is new enough and can make a working virtual environment.
usable_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

install_with_uv() {
    echo "Setting up .venv with uv ..."
    uv venv --quiet --clear --python '>=3.11' .venv
    uv pip install --quiet --python .venv/bin/python --require-hashes --compile-bytecode \
        -r requirements.lock
    uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
}

install_with_pip() {
    echo "Setting up .venv with $1 -m venv and pip (uv would be much quicker) ..."
    "$1" -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes \
        -r requirements.lock
    .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps \
        --no-build-isolation -e .
}

install() {
    local python
    if has_uv; then
        install_with_uv
        return
    fi
    if ! python=$(usable_python) && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing python3-venv with apt-get ..."
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    fi
    python=$(usable_python) || fail "No Python 3.11 or newer that can make virtual environments was" \
        "found: install uv (https://docs.astral.sh/uv), or as root 'apt-get install python3-venv'," \
        "and run this again."
    install_with_pip "$python"
}

is_current && exit 0
if command -v flock >/dev/null; then
    exec 9>.setup.lock
    flock 9
    is_current && exit 0
fi
install
.venv/bin/python -m compileall -q sciagent
fingerprint >"$stamp"
