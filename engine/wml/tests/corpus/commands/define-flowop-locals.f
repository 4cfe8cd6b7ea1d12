# Local variables of a composite: the value at the use, else the default, else the global one.

set $iosize=4k

define fileset name=small, path=$dir, entries=20, size=16k, dirwidth=5, prealloc
define fileset name=large, path=$dir, entries=4, size=64k, dirwidth=5, prealloc

define flowop name=readfile, $files, $slot=1, $iosize
{
  flowop openfile name=open, filesetname=$files, fd=$slot
  flowop readwholefile name=read, fd=$slot, iosize=$iosize
  flowop closefile name=close, fd=$slot
}

define process name=p
{
  thread name=t
  {
    flowop readfile name=first, $files=small
    flowop readfile name=second, $files=large, $slot=2, $iosize=16k
  }
}

run 1
