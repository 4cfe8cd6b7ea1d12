# Reads a file in three sequential streams that take turns.

define file name=file, path=$dir, size=96k, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=file, iosize=4k, streams=3
  }
}

run 1
