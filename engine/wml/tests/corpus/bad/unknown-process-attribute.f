# A misspelt attribute of a process.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p, instance=2
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
