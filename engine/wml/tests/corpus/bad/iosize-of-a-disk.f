# More than one operation moves.

define fileset name=files, path=$dir, entries=20, size=4k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=1t
  }
}

run 1
