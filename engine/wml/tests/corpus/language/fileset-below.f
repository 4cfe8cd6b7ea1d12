# A fileset may stand below the processes that use it, as long as it stands above the run.

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc
run 1
