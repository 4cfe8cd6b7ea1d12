# 1.4's end of the processes, without effect.
# expect-warning: version 1.4's 'shutdown' has no effect: the processes of a run end with it

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
shutdown processes
