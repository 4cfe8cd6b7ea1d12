# Sizes with suffixes, which are powers of 1024; fractions and both cases are wider than 1.5.

set $bytes=4096
set $lower=4k
set $upper=4K
set $fraction=1.5m
set $large=1G
set $huge=1t
set $seconds=0.5

define fileset name=a, path=$dir, size=$bytes, entries=2, dirwidth=2, prealloc
define fileset name=b, path=$dir, size=$lower, entries=2, dirwidth=2, prealloc
define fileset name=c, path=$dir, size=$upper, entries=2, dirwidth=2, prealloc
define fileset name=d, path=$dir, size=$fraction, entries=2, dirwidth=2, prealloc
define fileset name=e, path=$dir, size=$large/1m, entries=2, dirwidth=2, prealloc
define fileset name=f, path=$dir, size=$huge/1g, entries=2, dirwidth=2, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=a
  }
}

run $seconds
