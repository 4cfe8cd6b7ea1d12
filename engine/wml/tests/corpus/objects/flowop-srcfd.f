# The slot of the file whose size is written.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open-source, filesetname=files, fd=2
    flowop openfile name=open, filesetname=files, fd=1
    flowop writewholefile name=write, fd=1, srcfd=2, iosize=4k
    flowop closefile name=close, fd=1
    flowop closefile name=close-source, fd=2
  }
}

run 1
