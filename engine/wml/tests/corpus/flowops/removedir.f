# Removes the next leaf directory.

define fileset name=files, path=$dir, entries=20, leafdirs=20, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop removedir name=remove, filesetname=files
    flowop makedir name=make, filesetname=files
  }
}

run 1
