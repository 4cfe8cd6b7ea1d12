# Prints a number, also a random one.

set $size=randvar(type=uniform, mean=8k)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop print name=number, value=3
    flowop print name=drawn, value=$size
    flowop finishoncount name=enough, value=3
  }
}

run 1
