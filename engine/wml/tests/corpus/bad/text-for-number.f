# A number is wanted, and this is text.

define fileset name=files, path=$dir, entries=many, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
