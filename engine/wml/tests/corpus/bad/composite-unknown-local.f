# A local variable that the composite does not have.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define flowop name=look, $slot=1
{
  flowop openfile name=open, filesetname=files, fd=$slot
  flowop closefile name=close, fd=$slot
}

define process name=p
{
  thread name=t
  {
    flowop look name=first, $slit=2
  }
}

run 1
