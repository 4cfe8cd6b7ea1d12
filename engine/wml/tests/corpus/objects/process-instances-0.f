# A process that is not started.
# expect-warning: a process of which there is none is not started

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p, instances=0
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}
define process name=q
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
