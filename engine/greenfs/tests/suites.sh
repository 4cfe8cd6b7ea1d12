#!/bin/sh
# Runs the suites of others against mounts of GreenFS, in every mode:
#   pjdfstest   what POSIX asks for (cargo install pjdfstest); needs root
#   fsx         random operations on one file (of xfstests, built from its source)
#   fsstress    random calls of four processes in one tree (of xfstests, built from its source)
#   stress-ng   many processes that work in one folder (apt install stress-ng)
# Each is left out, with a word, where it is not installed; so is a mode where what it needs is missing.
# After each mode, what programs see must be on all branches. Ends with 1 if something failed.
# usage: [STRESS_S=SECONDS] suites.sh GREENFS [FSX_OPERATIONS [MODE...]]
set -eu

program=$(realpath "$1")
rescue=$(dirname "$(realpath "$0")")/../rescue.py
operations=${2:-10000}
modes="connected disconnected bounded encrypted served pooled switching"
[ $# -le 2 ] || { shift 2 && modes=$*; }
switches=100    # of a remote that goes and comes, at least
stressors="chmod dentry dir fallocate filename hdd link rename seek symlink touch utime"
stress_s=${STRESS_S:-60}
home=$(mktemp -d)
second=/dev/shm/greenfs-second-$$
chmod 755 "$home" # other users are part of what is asked
mkdir "$second"
failed=0

# Everything that a mode has started ends.
end() {
  touch enough
  stop_all
  wait
  stop_all # what was started meanwhile
}

stop_all() {
  for started in ./*.pid; do
    [ ! -e "$started" ] || kill "$(cat "$started")" 2>/dev/null || true
  done
}

# However a mode ended, nothing of it stays.
leave() {
  end
  for folder in mnt encrypted disk; do
    umount -l "$folder" 2>/dev/null || true
  done
  [ -z "${loop-}" ] || losetup -d "$loop" 2>/dev/null || true
  cd /
  rm -rf "$home" "$second"
}
mkdir "$home/at" # sockets have no longer paths
cd "$home/at"
trap leave EXIT
trap 'exit 1' INT TERM

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

# What it says of each mount would hide what the suites say.
greenfs() {
  "$program" "$@" >said-by-greenfs || {
    cat said-by-greenfs
    return 1
  }
}

fail() {
  echo "$mode: $*"
  failed=1
}

# usage: suite NAME PACKAGE COMMAND...: whether it passed; what it says goes to said-by-suite
suite() {
  name=$1 package=$2
  shift 2
  if ! command -v "$name" >/dev/null; then
    echo "$mode: $name is not installed ($package)"
    return 1
  fi
  "$@" >said-by-suite 2>&1 || {
    fail "$name failed"
    grep 'FAILED$' said-by-suite || tail -n 20 said-by-suite
    return 1
  }
}

random_operations() {
  fsx -N "$operations" -S "$1" mnt/fsx
}

suites() {
  mkdir -p mnt/pjd mnt/fsstress mnt/stress
  if suite pjdfstest "cargo install pjdfstest" \
    pjdfstest -c "$home/pjdfstest.toml" -p mnt/pjd -s "$second"; then
    echo "$mode: pjdfstest: $(grep ^Summary said-by-suite)"
  fi
  if suite fsx "of xfstests, built from its source" random_operations 1; then
    echo "$mode: fsx: $operations operations"
  fi
  # Devices stay on flash: no branch would equal it.
  calls=$((operations / 500))
  if suite fsstress "of xfstests, built from its source" \
    fsstress -d mnt/fsstress -p 4 -n "$calls" -s 1 -f mknod=0; then
    echo "$mode: fsstress: 4 x $calls calls"
  fi
  # shellcheck disable=SC2046,SC2086 # words
  if suite stress-ng "apt install stress-ng" stress-ng --temp-path mnt/stress --verify \
    --timeout "$stress_s" --hdd-bytes 4m --fallocate-bytes 4m --seek-size 4m \
    $(printf ' --%s 1' $stressors); then
    echo "$mode: stress-ng: $stressors; $stress_s s"
  fi
}

# usage: serve [OPTION...]: on the address that it had before, if any
serve() {
  rm -f said-by-server # what the one before said is not taken for its word
  "$program" serve remote --listen "${address:-127.0.0.1:0}" --cert "$home/keys/server/cert.pem" \
    --key "$home/keys/server/key.pem" --clients "$home/keys/ca.pem" "$@" >said-by-server &
  echo $! >server.pid
  until grep -qs ' on ' said-by-server || [ -e enough ]; do sleep 0.1; done
  address=$(sed 's/.* on //' said-by-server)
  url=greenfs://$address
}

# usage: same ONE OTHER
same() {
  diff -r --no-dereference --exclude=.greenfs "$1" "$2" || fail "$1 and $2 differ"
}

connected() {
  greenfs mount --flash flash --remote remote mnt
  suites
  greenfs umount mnt
  same flash remote
}

disconnected() {
  greenfs mount --flash flash mnt
  suites
  greenfs umount mnt
  greenfs sync --flash flash --remote remote
  same flash remote
}

bounded() {
  greenfs mount --flash flash --flash-mib 0 --remote remote mnt
  suites
  greenfs umount mnt
  greenfs sync --flash flash --remote remote --whole
  same flash remote
}

encrypted() {
  truncate -s 2G image
  mkfs.ext4 -q -F -O encrypt image
  mkdir encrypted
  mount -o loop image encrypted
  mkdir encrypted/flash
  greenfs flash key key
  greenfs mount --flash encrypted/flash --flash-key key --remote remote mnt
  suites
  cp -a mnt/. seen
  greenfs umount mnt
  same seen remote
  umount encrypted
  rm image
}

served() {
  serve
  greenfs mount --flash flash --remote "$url" mnt
  suites
  greenfs umount mnt
  same flash remote
}

pooled() {
  mkdir pool
  greenfs pool key key
  serve --pool pool --pool-key key
  greenfs mount --flash flash --remote "$url" mnt
  suites
  greenfs umount mnt
  greenfs pool check pool --pool-key key || fail "the pool is damaged"
  python3 "$rescue" pool remote back key
  same flash back
}

# Programs work while the remote goes and comes all the time, is killed amid what it missed, and the
# disk sleeps and is woken for what flash gave up.
switching() {
  mkdir old "$second/served"
  fsgreen-simdisk show greenfs08-desktop |
    sed 's/^spin_up_s = .*/spin_up_s = 0.2/; s/^spin_down_s = .*/spin_down_s = 0.1/' >quick.toml
  fsgreen-simdisk serve quick.toml --at "$second/served" --store "$second/store" \
    --control "$PWD/control" >said-by-disk &
  echo $! >disk.pid
  until [ -s said-by-disk ]; do sleep 0.1; done
  loop=$(losetup --find --show --direct-io=on "$second/served/disk")
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$loop" 2G
  mount "$loop" disk
  mkdir disk/backup
  mkdir "$home/tree"
  for number in $(seq 40); do
    head -c 1M /dev/urandom >"old/$number"
    head -c 10k /dev/urandom >"$home/tree/$number"
  done
  echo 0 >switched
  serve
  set -- --flash flash --flash-mib 8 --remote "$url" --disk disk/backup --sleep-after 1
  greenfs mount "$@" mnt
  cp -r old mnt/old
  greenfs umount mnt
  greenfs mount "$@" mnt
  until find flash/old -perm 1000 | grep -q .; do sleep 0.1; done # something is given up
  (go_and_come) &
  going=$!
  (read_old) &
  reading=$!
  suites
  seed=1
  until [ "$(cat switched)" -ge "$switches" ]; do
    seed=$((seed + 1))
    suite fsx "of xfstests, built from its source" random_operations "$seed" || sleep 1
  done
  touch enough
  wait "$going" || fail "the remote could not go and come"
  wait "$reading" || fail "what flash gave up could not be read"
  echo "$mode: the remote went or came $(cat switched) times, the disk was woken" \
    "$(grep -c '"why":"read"' flash/.greenfs/spin-ups) times for what flash gave up"
  greenfs umount mnt
  greenfs sync --flash flash --remote "$url" --disk disk/backup --whole
  same flash remote
  same flash disk/backup
  umount disk
  losetup -d "$loop"
  loop=
}

# usage: until_remote PATTERN: how `status` says that it stands
until_remote() {
  until "$program" status --flash flash | grep -qE "^remote .*: $1" || [ -e enough ]; do
    sleep 0.1
  done
}

go_and_come() {
  number=0
  until [ -e enough ]; do
    number=$((number + 1))
    kill -9 "$(cat server.pid)"
    until_remote away
    # So that there is something to be brought up: new, renamed and removed.
    cp -r "$home/tree" "mnt/new-$number"
    [ "$number" -lt 2 ] || mv "mnt/new-$((number - 1))" "mnt/old-$((number - 1))"
    [ "$number" -lt 4 ] || rm -r "mnt/old-$((number - 3))"
    serve
    until_remote '(connected|catching up)'
    echo "$((2 * number))" >switched
    # Each second time it is killed amid what it missed.
    [ $((number % 2)) -eq 0 ] || until [ -e "remote/new-$number/40" ] || [ -e enough ]; do
      sleep 0.1
    done
    sleep "0.$((number % 10))"
  done
}

read_old() {
  until [ -e enough ]; do
    for file in old/*; do
      cmp "$file" "mnt/$file" || exit 1
      [ -e enough ] || sleep 1.5 # meanwhile the disk is put to sleep
    done
  done
}

# What a mode needs beyond the program; nothing if it is there.
missing() {
  case $1 in
    encrypted)
      [ -e /sys/fs/ext4/features/encryption ] || echo "a kernel whose ext4 encrypts"
      ;;
    pooled)
      python3 -c 'import cryptography' 2>/dev/null || echo "python3 with cryptography"
      ;;
    switching)
      command -v fsgreen-simdisk >/dev/null || echo "fsgreen-simdisk (./run engine)"
      ;;
  esac
}

greenfs certificates "$home/keys" >/dev/null
export GREENFS_KEYS="$home/keys/client"
for mode in $modes; do
  needs=$(missing "$mode")
  if [ -n "$needs" ]; then
    echo "$mode: left out: needs $needs"
    continue
  fi
  mkdir flash remote disk mnt
  address=
  "$mode"
  end
  rm -rf ./*
done
exit $failed
