# A variable may be set below the objects that use it, as long as that is above the run.

define fileset name=files, path=$dir, entries=$entries, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

set $entries=20
run 1
