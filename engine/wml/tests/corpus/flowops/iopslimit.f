# Takes an event for each read and write, of the thread or of its target.

eventgen rate=100
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop read name=read, fd=1, iosize=4k
    flowop closefile name=close, fd=1
    flowop iopslimit name=limit
    flowop iopslimit name=limit-read, target=read
  }
}

run 1
