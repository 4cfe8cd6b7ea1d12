# The rate of the events that limits take.

set $rate=100
eventgen rate=$rate

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop opslimit name=limit
  }
}

run 1
