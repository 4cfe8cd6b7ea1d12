# The name of a fileset is one directory.

define fileset name="a/b", path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname="a/b"
  }
}

run 1
