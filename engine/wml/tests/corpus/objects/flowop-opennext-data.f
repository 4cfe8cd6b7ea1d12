# Each read takes the next slot, and opens the next file into it.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k, opennext
  }
}

run 1
