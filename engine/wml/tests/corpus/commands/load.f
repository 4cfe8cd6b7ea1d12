# 1.4's command to load a personality, without effect.
# expect-warning: version 1.4's 'load' has no effect: a text holds its whole workload

load fileserver

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
