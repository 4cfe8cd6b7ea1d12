# The rate of the events that limits take.
# expect-warning: opslimit charges the operations that are counted; Filebench charges itself and what is not counted too, so that the same rate is fewer passes there; with a target both charge that one

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
