# Posts `value` to each instance of its target; with `blocking` never more than its high water.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=writers, instances=2
{
  thread name=t
  {
    flowop semblock name=wait, value=2, highwater=4
    flowop write name=write, filesetname=files, iosize=4k, random
  }
}
define process name=reader
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k, random
    flowop sempost name=post, value=1, target=wait, blocking
  }
}

run 1
