# Makes every file of the fileset durable that the thread has open.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop openfile name=open-another, filesetname=files, fd=2
    flowop appendfile name=append, fd=1, iosize=512
    flowop appendfile name=append-another, fd=2, iosize=512
    flowop fsyncset name=fsync-both, filesetname=files
    flowop closefile name=close, fd=1
    flowop closefile name=close-another, fd=2
  }
}

run 1
