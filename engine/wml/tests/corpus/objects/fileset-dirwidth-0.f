# A width of 0 is one file in each directory.
# expect-warning: with this 'dirwidth', each directory has one file, as dirwidth=1 says

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=0, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
