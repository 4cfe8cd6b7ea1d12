# A level from 0 to 10, accepted as 1.5 does, without effect.
# expect-warning: 'debug' has no effect: the report holds what there is to say

debug 3

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
