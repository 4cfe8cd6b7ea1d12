# Never above a maximum.

set $size=randvar(type=gamma, mean=8k, min=1k, max=32k)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
