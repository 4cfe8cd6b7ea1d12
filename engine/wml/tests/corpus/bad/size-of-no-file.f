# Longer than a file can be.

define fileset name=files, path=$dir, entries=20, size=9000000t, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k
  }
}

run 1
