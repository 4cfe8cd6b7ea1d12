# Name and path may hold variables.

set $round=1
define fileset name="files-$round", path="$dir", entries=20, size=8k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname="files-$round"
  }
}

run 1
