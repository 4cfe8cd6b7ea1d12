# Writes through io_uring, one at a time unless `value` says more.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop uringwrite name=one, filesetname=files, iosize=4k, random
    flowop uringwrite name=four, filesetname=files, iosize=4k, random, value=4
    flowop uringwait name=wait
  }
}

run 1
