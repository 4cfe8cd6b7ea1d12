# A fileset without leaf directories.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop makedir name=make, filesetname=files
  }
}

run 1
