# A table that is scaled to a mean, above a minimum.

set $size=randvar(type=tabular, mean=8k, min=512, randtable={{50, 0, 1k}, {50, 1k, 2k}})

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
