# The number of files, from 1.

define fileset name=one, path=$dir, entries=1, size=16k, dirwidth=5, prealloc
define fileset name=many, path=$dir, entries=200, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat-one, filesetname=one
    flowop statfile name=stat-many, filesetname=many
  }
}

run 1
