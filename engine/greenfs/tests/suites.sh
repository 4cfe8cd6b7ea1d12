#!/bin/sh
# Runs the suites of others against a mount of GreenFS: connected, disconnected, with a bound
# on flash, and with a server:
#   pjdfstest   what POSIX asks for (cargo install pjdfstest); needs root
#   fsx         random operations on one file (cargo install fsx)
# Each is left out, with a word, where it is not installed. Ends with 1 if something failed.
# usage: suites.sh GREENFS [FSX_OPERATIONS]
set -eu

greenfs=$(realpath "$1")
operations=${2:-10000}
home=$(mktemp -d)
second=/dev/shm/greenfs-second-$$
chmod 755 "$home" # other users are part of what is asked
mkdir "$home/flash" "$home/remote" "$home/mnt" "$second"
failed=0

serving=
leave() {
  [ -z "$serving" ] || kill "$serving"
  umount -l "$home/mnt" 2>/dev/null || true
  rm -rf "$home" "$second"
}
trap leave EXIT

cat >"$home/pjdfstest.toml" <<'TOML'
[features]
posix_fallocate = {}
rename_ctime = {}
utime_now = {}
utimensat = {}
[settings]
naptime = 0.01
allow_remount = false
[dummy_auth]
entries = [["nobody", "nogroup"], ["daemon", "daemon"]]
TOML

# usage: suites MODE
suites() {
  if command -v pjdfstest >/dev/null; then
    mkdir -p "$home/mnt/pjd"
    echo "$1: pjdfstest"
    pjdfstest -c "$home/pjdfstest.toml" -p "$home/mnt/pjd" -s "$second" >"$home/said" 2>&1 ||
      failed=1
    grep FAILED "$home/said" || true
    grep ^Summary "$home/said"
  else
    echo "$1: pjdfstest is not installed (cargo install pjdfstest)"
  fi
  if command -v fsx >/dev/null; then
    echo "$1: fsx, $operations operations"
    fsx -N "$operations" -S 1 "$home/mnt/fsx" >"$home/said" 2>&1 || {
      failed=1
      tail -n 20 "$home/said"
    }
  else
    echo "$1: fsx is not installed (cargo install fsx)"
  fi
}

cd "$home"
"$greenfs" mount --flash flash --remote remote mnt
suites connected
"$greenfs" umount mnt
diff -r --no-dereference --exclude=.greenfs flash remote || failed=1
"$greenfs" mount --flash flash mnt
suites disconnected
"$greenfs" umount mnt
"$greenfs" mount --flash flash --flash-mib 0 --remote remote mnt
suites "with a bound"
"$greenfs" umount mnt
"$greenfs" sync --flash flash --remote remote --whole
diff -r --no-dereference --exclude=.greenfs flash remote || failed=1

"$greenfs" certificates keys >/dev/null
export GREENFS_KEYS="$home/keys/client"
"$greenfs" serve remote --listen 127.0.0.1:0 --cert keys/server/cert.pem --key keys/server/key.pem \
  --clients keys/ca.pem >said-by-server &
serving=$!
until grep -qs ' on ' said-by-server; do sleep 0.1; done
"$greenfs" mount --flash flash --remote "greenfs://$(sed 's/.* on //' said-by-server)" mnt
suites served
"$greenfs" umount mnt
diff -r --no-dereference --exclude=.greenfs flash remote || failed=1
exit $failed
