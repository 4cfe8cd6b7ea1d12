# So many threads with the same flowops.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=16
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
