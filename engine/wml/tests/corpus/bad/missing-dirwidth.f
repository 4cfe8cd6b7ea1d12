# A fileset of several files has a width.

define fileset name=files, path=$dir, entries=20, size=16k, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
