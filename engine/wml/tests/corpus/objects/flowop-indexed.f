# The number of the file, usually drawn.

set $number=randvar(type=uniform, mean=10)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, indexed=$number, fd=1
    flowop closefile name=close, fd=1
    flowop statfile name=stat, filesetname=files, indexed=7
  }
}

run 1
