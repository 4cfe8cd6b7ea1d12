# Reserves iosize bytes behind the end of a slot's file.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop fallocate name=reserve, fd=1, iosize=4k
    flowop truncatefile name=truncate, fd=1, iosize=16k
    flowop closefile name=close, fd=1
  }
}

run 1
