# An existing tree is kept without a look at its sizes.

define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=5, prealloc, trusttree

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
