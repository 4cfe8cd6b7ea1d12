# Neither one file in each directory nor several.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=1.5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
