# Sets an extended attribute of iosize bytes, 16 unless it says more.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop setxattr name=set-short, filesetname=files
    flowop setxattr name=set-long, filesetname=files, iosize=64
  }
}

run 1
