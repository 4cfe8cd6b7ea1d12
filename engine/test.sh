#!/bin/sh
# Format, lints and tests of the crates. Of rustfmt and clippy, what is not installed is left out.
set -eu
cd "$(dirname "$0")"
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; fi
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --workspace --all-targets --quiet -- -D warnings
fi
cargo test --workspace --quiet
