# Uniform within segments of a table of percentages.

set $size=randvar(type=tabular, randtable={{60, 1k, 2k}, {30, 4k, 8k}, {10, 16k, 64k}})

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
