# A number, or a random variable, whose meaning is the flowop's.

set $stores=randvar(type=uniform, mean=1k)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop hog name=compute, value=$stores
    flowop delay name=pause, value=0.001
  }
}

run 1
