# A flowop that has no use for a target.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop closefile name=close, fd=1
    flowop statfile name=stat, filesetname=files, target=open
  }
}

run 1
