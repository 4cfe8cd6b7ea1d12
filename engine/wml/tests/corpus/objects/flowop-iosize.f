# Bytes at once: a number or a random variable.

set $iosize=randvar(type=uniform, mean=4k, min=512)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop read name=read, fd=1, iosize=4k
    flowop read name=read-drawn, fd=1, iosize=$iosize
    flowop closefile name=close, fd=1
  }
}

run 1
