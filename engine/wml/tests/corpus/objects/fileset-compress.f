# How far the data of the files compress, in percent.

define fileset name=files, path=$dir, entries=20, size=64k, dirwidth=5, prealloc, compress=50

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop write name=write, fd=1, iosize=16k
    flowop closefile name=close, fd=1
  }
}

run 1
