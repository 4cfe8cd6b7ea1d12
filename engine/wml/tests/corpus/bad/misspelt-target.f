# A target that is not there, near one that is.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop closefile name=close, fd=1
    flowop finishoncount name=enough, value=10, target=opened
  }
}

run 1
