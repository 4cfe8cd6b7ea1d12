# Reads a file from start to end, in pieces of iosize or at once.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop readwholefile name=pieces, fd=1, iosize=4k
    flowop readwholefile name=at-once, fd=1
    flowop closefile name=close, fd=1
  }
}

run 1
