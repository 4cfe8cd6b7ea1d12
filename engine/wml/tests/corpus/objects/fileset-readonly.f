# Files are opened for reading only.

define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=5, prealloc, readonly

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop read name=read, fd=1, iosize=4k
    flowop closefile name=close, fd=1
  }
}

run 1
