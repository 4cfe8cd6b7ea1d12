# Accepted as 1.5 does, without effect.
# expect-warning: 'useism' has no effect: each thread has a buffer of its own

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, memsize=1m, useism
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
