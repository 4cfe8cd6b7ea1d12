# The part of a file that random places lie in; 0 is the whole file.

set $part=randvar(type=uniform, mean=8k)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k, random, workingset=8k
    flowop write name=write, filesetname=files, iosize=4k, random, workingset=$part
  }
}

run 1
