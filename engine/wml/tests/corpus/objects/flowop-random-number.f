# A number is a flag, too.
# expect-warning: 'random' is true or false; 1 is done as true

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=read, filesetname=files, iosize=4k, random=1
  }
}

run 1
