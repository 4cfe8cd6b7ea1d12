#!/bin/sh
# Prints the digest (SHA-256) of what the wheel is built from; with --tests, of that and all that
# the crates' own tests rest on. It is the same on every machine and in every folder.
set -eu
cd "$(dirname "$0")"
digest() { # FOLDER ... CONDITION ...
  find "$@" -type f -print | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1
}
if [ "${1-}" = --tests ]; then
  digest . ../fsgreen/workloads/personalities ../docs/results.schema.json \
    ! -path '*/target/*' ! -path '*/__pycache__/*'
else
  digest . ! -path '*/target/*' ! -path '*/tests/*' ! -path '*/examples/*' ! -name tests.rs \
    \( -name '*.rs' -o -name '*.toml' -o -name Cargo.lock -o -name NOTICE -o -name build.sh \)
fi
