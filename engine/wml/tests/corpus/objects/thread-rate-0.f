# A rate of 0 is none: passes follow one another.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, rate=0
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
