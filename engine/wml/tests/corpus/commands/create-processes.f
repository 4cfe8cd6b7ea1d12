# 1.4's command, without effect: a run makes its processes.
# expect-warning: version 1.4's 'create processes' has no effect: each run starts its processes

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

create processes
run 1
