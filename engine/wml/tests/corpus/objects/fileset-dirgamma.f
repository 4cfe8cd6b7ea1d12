# The shape, times 1000, of width and depth; 0 makes both fixed.

define fileset name=files, path=$dir, entries=200, dirwidth=10, dirgamma=1500, prealloc
define fileset name=even, path=$dir, entries=100, dirwidth=10, dirgamma=0, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop statfile name=stat-even, filesetname=even
  }
}

run 1
