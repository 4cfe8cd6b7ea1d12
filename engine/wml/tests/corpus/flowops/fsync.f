# Makes the file of a slot durable.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop appendfile name=append, fd=1, iosize=512
    flowop fsync name=fsync, fd=1
    flowop closefile name=close, fd=1
  }
}

run 1
