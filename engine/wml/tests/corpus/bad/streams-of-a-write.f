define file name=file, path=$dir, size=96k, prealloc
define process name=p
{
  thread name=t
  {
    flowop write name=write, filesetname=file, iosize=4k, streams=3
  }
}
run 1
