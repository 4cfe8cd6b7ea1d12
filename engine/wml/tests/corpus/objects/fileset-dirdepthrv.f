# What the depth is drawn from; its mean is the computed mean depth.

set $depth=randvar(type=uniform, mean=3)
define fileset name=files, path=$dir, entries=200, dirwidth=10, dirdepthrv=$depth, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
