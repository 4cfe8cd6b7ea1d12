# Bytes of each file: a number or a random variable, 1024 unless given.

set $size=randvar(mean=8k)
define fileset name=files, path=$dir, entries=20, dirwidth=5, prealloc
define fileset name=fixed, path=$dir, entries=20, size=8k, dirwidth=5, prealloc
define fileset name=drawn, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop statfile name=stat-fixed, filesetname=fixed
    flowop statfile name=stat-drawn, filesetname=drawn
  }
}

run 1
