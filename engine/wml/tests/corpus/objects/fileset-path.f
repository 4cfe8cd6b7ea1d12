# The directory that the tree lies in; characters of paths need no quotes.

define fileset name=files, path=/corpus/a.b_c:d-e, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
