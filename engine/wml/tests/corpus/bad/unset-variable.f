# A variable that nobody has set, near one that somebody has.

set $entries=20
define fileset name=files, path=$dir, entries=$entires, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
