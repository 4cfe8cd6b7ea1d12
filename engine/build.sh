#!/bin/sh
# Builds the wheel `fsgreen-engine` into a folder: the Python module and the programs fsgreen-wml,
# fsgreen-ycsb, fsgreen-simdisk, fsgreen-nfs and greenfs.
# For this machine: needs cargo >= 1.85, a C linker, and maturin in PATH. For a TARGET, for all
# machines of its kind: the standard library of that target, cargo-zigbuild and ziglang instead of
# a linker, and a folder without spaces.
set -eu

case $# in
1 | 2) ;;
*)
  echo "usage: engine/build.sh OUTDIR [TARGET]" >&2
  exit 1
  ;;
esac
mkdir -p "$1"
out=$(cd "$1" && pwd -P)
target=${2-}
cd "$(dirname "$0")"

if [ -z "$target" ]; then
  cargo=build
  built=target/release
  set -- --compatibility linux
else
  # The oldest C library with copy_file_range: that of Debian 10 and RHEL 8.
  glibc=2.28
  # No path of this machine goes into what is shipped.
  cargo fetch --locked --quiet
  RUSTFLAGS="--remap-path-prefix=$PWD=engine"
  for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$sources=crates"
  done
  export RUSTFLAGS
  export SOURCE_DATE_EPOCH=315532800 # the earliest time that a wheel can name
  cargo="zigbuild --target $target.$glibc"
  built=target/$target/release
  set -- --zig --target "$target" --compatibility "manylinux_${glibc%.*}_${glibc#*.}"
fi

# maturin packs what stands in this folder; a wheel's `scripts` end up in bin/.
scripts=target/wheel-data/scripts
programs="fsgreen-wml fsgreen-ycsb fsgreen-simdisk fsgreen-nfs greenfs"
# shellcheck disable=SC2046,SC2086 # words
cargo $cargo --release --locked --target-dir target -p wml -p ycsb -p simdisk -p greenfs -p nfs \
  -p fsgreen-engine $(printf ' --bin %s' $programs)
mkdir -p "$scripts"
for program in $programs; do
  cp "$built/$program" "$scripts/"
done
maturin build --release --locked --manifest-path py/Cargo.toml --target-dir target \
  --out "$out" "$@"
