# Its attributes may be variables and arithmetic.

set $scale=0.5
set $mean=16k
set $size=randvar(type=gamma, mean=$mean*$scale, min=$mean/16)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
