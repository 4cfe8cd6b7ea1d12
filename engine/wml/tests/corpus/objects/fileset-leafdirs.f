# Empty directories beside those that hold files.

define fileset name=files, path=$dir, entries=20, leafdirs=40, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop makedir name=make, filesetname=files
    flowop removedir name=remove, filesetname=files
  }
}

run 1
