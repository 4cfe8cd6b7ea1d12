# Accepted as 1.5 does, without effect.
# expect-warning: 'nousestats' has no effect: processor time is always reported

set mode nousestats

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
