# A fileset of one file.

define file name=log, path=$dir, size=4k, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=log
  }
}

run 1
