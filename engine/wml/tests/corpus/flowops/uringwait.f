# Waits for all that is in flight.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop uringread name=read, filesetname=files, iosize=4k, random, value=8, iters=8
    flowop uringwait name=wait
  }
}

run 1
