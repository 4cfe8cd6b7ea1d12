# An open loop at Poisson's intervals, as without the attribute.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, rate=200, arrivals=poisson
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
