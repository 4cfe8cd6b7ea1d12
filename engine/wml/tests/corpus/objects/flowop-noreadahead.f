# Asks the kernel not to read ahead.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1, noreadahead
    flowop read name=read, fd=1, iosize=4k
    flowop closefile name=close, fd=1
  }
}

run 1
