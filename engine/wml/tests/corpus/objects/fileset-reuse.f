# An existing tree is kept, and what differs is mended.

define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=5, prealloc, reuse

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
