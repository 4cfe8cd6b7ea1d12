# A sempost that runs no further ahead of its semblock than the highwater.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=writer
  {
    flowop semblock name=wait, value=1, highwater=10
    flowop write name=write, filesetname=files, iosize=4k, random
  }
  thread name=reader
  {
    flowop read name=read, filesetname=files, iosize=4k, random
    flowop sempost name=post, value=1, target=wait, blocking
  }
}

run 1
