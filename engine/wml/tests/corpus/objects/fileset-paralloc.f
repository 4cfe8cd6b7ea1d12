# Files are created by several threads.

define fileset name=files, path=$dir, entries=200, dirwidth=5, prealloc, paralloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
