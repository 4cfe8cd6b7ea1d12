# Without a width, each directory has one file.
# expect-warning: a fileset without 'dirwidth': each directory has one file, as dirwidth=1 says

define fileset name=files, path=$dir, entries=20, size=16k, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
