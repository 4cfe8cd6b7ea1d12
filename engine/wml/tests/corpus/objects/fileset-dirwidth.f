# The mean number of entries of a directory; it may be a random variable.

set $width=randvar(type=uniform, mean=10, min=5)
define fileset name=files, path=$dir, entries=200, dirwidth=$width, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
