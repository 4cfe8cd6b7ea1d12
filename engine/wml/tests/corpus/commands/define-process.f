# Processes with threads with flowops.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=first
{
  thread name=a
  {
    flowop statfile name=stat, filesetname=files
  }
  thread name=b
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop closefile name=close, fd=1
  }
}
define process name=second, instances=2
{
  thread name=a, instances=3
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
