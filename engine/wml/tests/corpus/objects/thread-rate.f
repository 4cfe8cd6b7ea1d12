# An open loop: passes begin on a schedule, however long they take.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=4, rate=200
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
