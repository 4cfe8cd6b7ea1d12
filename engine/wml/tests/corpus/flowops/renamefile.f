# Gives a file the name of one that does not exist.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop renamefile name=rename, filesetname=files
  }
}

run 1
