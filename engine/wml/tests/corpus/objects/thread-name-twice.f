# Threads of one name get numbers.
# expect-warning: process 'p' has two threads 't': this one is called 't-2'

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}
run 1
