# No thread is one thread.
# expect-warning: 'instances' of 0 is done as 1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=0
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
