# Reads on in the file of a slot, or at a random place of the thread's own file.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop read name=next, fd=1, iosize=4k
    flowop read name=anywhere, filesetname=files, iosize=4k, random, fd=2
    flowop closefile name=close, fd=1
  }
}

run 1
