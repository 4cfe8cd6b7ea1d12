# Flowops of one name get numbers.
# expect-warning: this thread has two flowops 'stat': this one is called 'stat-2'

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop statfile name=stat, filesetname=files
  }
}

run 1
