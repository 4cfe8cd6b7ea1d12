# Numbers are not negative.

define fileset name=files, path=$dir, entries=10-30, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
