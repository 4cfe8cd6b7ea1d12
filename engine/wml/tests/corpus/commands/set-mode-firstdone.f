# The run ends when one thread has reached its goal.

set mode quit firstdone

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop finishoncount name=enough, value=100
  }
}

run
