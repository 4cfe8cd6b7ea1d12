# Uniform between the minimum and as far above the mean.

set $size=randvar(type=uniform, mean=8k, min=1k)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
