# Several runs, each with the values that hold at it.

set $threads=1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=$threads
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
set $threads=4
run 1
