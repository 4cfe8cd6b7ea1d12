# A flowop that needs files.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, fd=1
    flowop closefile name=close, fd=1
  }
}

run 1
