#!/bin/sh
# Prints the digest (SHA-256) of what the wheel is built from: the same on every machine and in
# every folder. The tests of the crates are no part of it.
set -eu
cd "$(dirname "$0")"
find . \( -name target -o -name tests -o -name examples \) -prune -o -type f \
  \( -name '*.rs' -o -name '*.toml' -o -name Cargo.lock -o -name NOTICE -o -name build.sh \) \
  ! -name tests.rs -print |
  LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1
