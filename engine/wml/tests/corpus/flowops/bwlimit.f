# Takes an event for each MiB.

eventgen rate=10
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=16k, random
    flowop bwlimit name=limit
  }
}

run 1
