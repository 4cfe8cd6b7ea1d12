# The name of a composite is its own.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define flowop name=statfile, $slot=1
{
  flowop openfile name=open, filesetname=files, fd=$slot
  flowop closefile name=close, fd=$slot
}

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
