# Of an attribute that is repeated, the last one counts.

define fileset name=files, path=$dir, entries=1000000000, entries=4, size=4k, dirwidth=2, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
