# Rounded to the nearest multiple.

set $size=randvar(type=gamma, mean=8k, round=512)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
