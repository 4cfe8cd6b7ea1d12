# Ends the thread once it has moved more than so many bytes.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k, random
    flowop finishonbytes name=enough, value=400k
  }
}

run 1
