# Files that exist at the start: none, all, or a share.

define fileset name=files, path=$dir, entries=20, dirwidth=5, prealloc
define fileset name=half, path=$dir, entries=20, dirwidth=5, prealloc=50
define fileset name=none, path=$dir, entries=20, dirwidth=5

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop statfile name=stat-half, filesetname=half
    flowop createfile name=create, filesetname=none, fd=1
    flowop closefile name=close, fd=1
    flowop deletefile name=delete, filesetname=none
  }
}

run 1
