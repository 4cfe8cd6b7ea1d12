# An open loop at even intervals.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, rate=200, arrivals=constant
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
