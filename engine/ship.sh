#!/bin/sh
# Builds the wheels of the engine that are shipped, one for each kind of machine, and puts them
# into the DVC store. To be repeated whenever engine/digest.sh prints another digest than the one
# that is shipped, which a test tells. They pass their tests first: a push then runs these where
# they are others than those.
# Needs what ./run makes (.venv), rustup, and the package registries; takes twenty minutes, and
# twice that beside other work.
set -eu
cd "$(dirname "$0")/.."

tools="cargo-zigbuild==0.24.0 maturin==1.16.0 ziglang==0.17.1"
targets="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"
wheels=data/engine

PATH=$PWD/.venv/bin:$PATH
uv venv --quiet --clear build/ship
# shellcheck disable=SC2086 # words
uv pip install --quiet --python build/ship/bin/python $tools
PATH=$PWD/build/ship/bin:$PATH
# shellcheck disable=SC2086 # words
rustup target add $targets

engine/test.sh
python engine/notice.py
digest=$(engine/digest.sh)
rm -rf "$wheels"
for target in $targets; do
  engine/build.sh "$wheels" "$target"
done

for wheel in "$wheels"/*.whl; do
  rm -rf build/unpacked
  python -m zipfile -e "$wheel" build/unpacked
  ! grep -rlaF -e "$PWD" -e "$HOME/" -e .cargo/ -e .rustup/ build/unpacked || {
    echo "ship: these of $wheel name a folder of this machine" >&2
    exit 1
  }
done

cat >"$wheels/built-from.json" <<TXT
{
  "source_sha256": "$digest",
  "tested_sha256": "$(engine/digest.sh --tests)",
  "tested_on": "$(uname -m)",
  "rustc": "$(rustc --version)",
  "tools": "$tools"
}
TXT

# The objects of what was shipped before leave the store, but for those that stay the same.
objects() {
  folder=$(sed -n 's/^- md5: //p' data/engine.dvc 2>/dev/null) || return 0
  for md5 in $folder $(grep -o '"md5": "[0-9a-f]*"' "$(object "$folder")" | cut -d '"' -f 4); do
    object "$md5"
  done
}
object() { echo "data/store/files/md5/$(echo "$1" | cut -c 1-2)/$(echo "$1" | cut -c 3-)"; }

before=$(objects)
dvc add --quiet "$wheels"
dvc push --quiet data/engine.dvc
now=$(objects)
for old in $before; do
  echo "$now" | grep -qxF "$old" || rm -f "$old"
done
ls -l "$wheels"
echo "ship: now commit data/engine.dvc, data/store and engine/py/NOTICE"
