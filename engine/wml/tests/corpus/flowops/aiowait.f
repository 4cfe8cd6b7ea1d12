# Waits for half of the asynchronous writes.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop aiowrite name=write, filesetname=files, iosize=4k, random, iters=4
    flowop aiowait name=wait
    flowop aiowait name=wait-again
  }
}

run 1
