# Linux numbers processes and threads up to 4194304.

define fileset name=files, path=$dir, entries=20, size=4k, dirwidth=5, prealloc

define process name=p, instances=1000
{
  thread name=t, instances=10000
  {
    flowop read name=read, filesetname=files, iosize=4k
  }
}

run 1
