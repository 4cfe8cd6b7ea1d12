# Cuts or extends the file of a slot, or the next one, to iosize bytes.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop truncatefile name=truncate-open, fd=1, iosize=8k
    flowop closefile name=close, fd=1
    flowop truncatefile name=truncate-any, filesetname=files, iosize=16k
  }
}

run 1
