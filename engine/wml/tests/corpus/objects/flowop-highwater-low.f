# A semblock that waits for more than its posts may be ahead.
# expect-warning: the highwater is below the value: as in Filebench, this semblock gives back before it waits

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=writer
  {
    flowop semblock name=wait, value=10, highwater=9
    flowop write name=write, filesetname=files, iosize=4k, random
  }
  thread name=reader
  {
    flowop read name=read, filesetname=files, iosize=4k, random
    flowop sempost name=post, value=1, target=wait, blocking
  }
}
run 1
