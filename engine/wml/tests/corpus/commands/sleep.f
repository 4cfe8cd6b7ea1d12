# Sleeps between commands.

set $pause=0.1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

create files
sleep $pause
run 1
sleep 0.1
