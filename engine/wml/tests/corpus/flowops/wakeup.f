# Wakes all threads that wait at its target, also those of another process.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=sleepers, instances=2
{
  thread name=t
  {
    flowop block name=wait
    flowop statfile name=stat, filesetname=files
  }
}
define process name=waker
{
  thread name=t
  {
    flowop delay name=pause, value=0.01
    flowop wakeup name=wake, target=wait
  }
}

run 1
