# Waits for the other clients.

set $round=1
enable multi master=localhost, client=second

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

domultisync value=$round
run 1
