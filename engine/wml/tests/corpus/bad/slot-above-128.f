# Slots end at 128.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=129
    flowop closefile name=close, fd=129
  }
}

run 1
