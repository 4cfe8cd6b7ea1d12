# The I/O priority, 0 (first) to 7; 8 leaves it alone.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, ioprio=4
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
