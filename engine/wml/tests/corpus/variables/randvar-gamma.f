# Gamma distributed above a minimum; gamma is the shape times 1000.

set $size=randvar(type=gamma, mean=8k, gamma=1500, min=1k)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
