# Composites of composites; a target is looked for among its neighbours first.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define flowop name=readfile, $slot=1
{
  flowop openfile name=open, filesetname=files, fd=$slot
  flowop read name=read, fd=$slot, iosize=4k
  flowop iopslimit name=limit, target=read
  flowop closefile name=close, fd=$slot
}
define flowop name=readfiles, $slot=1
{
  flowop readfile name=first, $slot=$slot
  flowop readfile name=second, $slot=$slot+1
}

define process name=p
{
  thread name=t
  {
    flowop readfiles name=pair
    flowop readfiles name=another-pair, $slot=10
  }
}

run 1
