# Nothing rotates over the slots.
# expect-warning: 'opennext' has no effect: no openfile or createfile of this thread has it

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop read name=read, fd=1, iosize=4k, opennext
    flowop closefile name=close, fd=1
  }
}

run 1
