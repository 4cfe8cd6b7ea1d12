# A stream of its own, which depends on this seed and the thread.

set $size=randvar(type=gamma, mean=8k, seed=42)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
