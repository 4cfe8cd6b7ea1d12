# Asynchronous writes go to random places.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop aiowrite name=write, filesetname=files, iosize=4k
    flowop aiowait name=wait
  }
}

run 1
