# Limits look at their own thread.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=first
  {
    flowop statfile name=stat, filesetname=files
  }
  thread name=second
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop closefile name=close, fd=1
    flowop finishoncount name=enough, value=10, target=stat
  }
}
run 1
