# How the file is picked.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=next-of-all, filesetname=files, select=rotor
    flowop statfile name=next-of-thread, filesetname=files, select=sequential
    flowop statfile name=any, filesetname=files, select=uniform
    flowop statfile name=popular, filesetname=files, select=zipf
  }
}

run 1
