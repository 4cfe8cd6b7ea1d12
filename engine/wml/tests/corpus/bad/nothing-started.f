# All processes have no instances.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p, instances=0
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
