# Writes into a mapping of the file, on and on or at random places.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop mmapwrite name=next, fd=1, iosize=4k
    flowop mmapwrite name=anywhere, fd=1, iosize=4k, random
    flowop closefile name=close, fd=1
  }
}

run 1
