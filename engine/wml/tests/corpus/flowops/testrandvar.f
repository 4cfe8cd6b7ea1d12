# Prints what a random variable is like.

set $size=randvar(type=gamma, mean=8k, min=1k)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop testrandvar name=test, value=$size
    flowop statfile name=stat, filesetname=files
    flowop finishoncount name=enough, value=1
  }
}

run 1
