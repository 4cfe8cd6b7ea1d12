#!/bin/sh
# Builds the wheel `fsgreen-engine` into a folder: the Python module and the programs
# fsgreen-wml and fsgreen-simdisk.
# Needs cargo >= 1.85, a C linker, and maturin in PATH.
set -eu

[ $# -eq 1 ] || {
  echo "usage: engine/build.sh OUTDIR" >&2
  exit 1
}
mkdir -p "$1"
out=$(cd "$1" && pwd -P)
cd "$(dirname "$0")"

# maturin packs what stands in this folder; a wheel's `scripts` end up in bin/.
scripts=target/wheel-data/scripts
cargo build --release --locked --target-dir target -p wml -p simdisk -p fsgreen-engine \
  --bin fsgreen-wml --bin fsgreen-simdisk
mkdir -p "$scripts"
cp target/release/fsgreen-wml target/release/fsgreen-simdisk "$scripts/"
maturin build --release --locked --manifest-path py/Cargo.toml --target-dir target \
  --compatibility linux --out "$out"
