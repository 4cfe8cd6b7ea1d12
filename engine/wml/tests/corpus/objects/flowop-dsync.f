# Writes are durable when they return.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop write name=write, filesetname=files, iosize=4k, random, dsync
  }
}

run 1
