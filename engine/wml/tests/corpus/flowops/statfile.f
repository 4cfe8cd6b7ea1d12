# Looks at the file of a slot, or at the next one by its name.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, fd=1
    flowop statfile name=stat-open, fd=1
    flowop closefile name=close, fd=1
    flowop statfile name=stat-any, filesetname=files
  }
}

run 1
