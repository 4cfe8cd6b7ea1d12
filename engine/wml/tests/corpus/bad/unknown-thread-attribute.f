# A misspelt attribute of a thread.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, memsiz=1m
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
