# A misspelt attribute of a fileset.

define fileset name=files, path=$dir, entrys=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
