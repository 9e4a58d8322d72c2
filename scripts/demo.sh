#!/usr/bin/env bash
# Refines two powder patterns with the built-in policy (no model, no network), verifies both
# reports by running everything again, and says which pages to open.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly out=artifacts
reports=()

# Prints the value of one top-level key of the JSON object on stdin.
json_value() {
    .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

refine_and_verify() {
    local dataset=$1 result run
    echo "== $dataset: refining from a bad start =="
    result=$(.venv/bin/sciagent run powder_diffraction/refine --dataset "$dataset" --out "$out" --json)
    run=$(json_value run <<<"$result")
    echo "== $dataset: verifying $run by running it again =="
    .venv/bin/sciagent verify "$run" --rerun
    reports+=("$run/report.html")
}

refine_and_verify fluorapatite
refine_and_verify sc2au6

echo
echo "Both reports are verified. Open in a browser:"
printf '  %s\n' "${reports[@]}"
