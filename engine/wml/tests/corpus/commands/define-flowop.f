# A composite flowop: its inside, from top to bottom, at each use.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define flowop name=readfile
{
  flowop openfile name=open, filesetname=files, fd=1
  flowop readwholefile name=read, fd=1
  flowop closefile name=close, fd=1
}

define process name=p
{
  thread name=t
  {
    flowop readfile name=first
    flowop readfile name=second
  }
}

run 1
