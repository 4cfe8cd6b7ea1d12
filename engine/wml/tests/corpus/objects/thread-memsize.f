# The least size of the thread's buffer.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, memsize=10m
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
