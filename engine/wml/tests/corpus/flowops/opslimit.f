# Takes an event for each counted operation.
# expect-warning: opslimit charges the operations that are counted; Filebench charges itself and what is not counted too, so that the same rate is fewer passes there; with a target both charge that one

eventgen rate=100
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop closefile name=close, fd=1
    flowop opslimit name=limit
  }
}

run 1
