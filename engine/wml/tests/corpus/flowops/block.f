# Waits until another thread wakes it up.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=sleeper, instances=2
  {
    flowop block name=wait
    flowop statfile name=stat, filesetname=files
  }
  thread name=waker
  {
    flowop delay name=pause, value=0.01
    flowop wakeup name=wake, target=wait
  }
}

run 1
