# Meets the other clients of a run on several machines.

enable multi master=localhost, client=first

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

create files
domultisync value=1
run 1
