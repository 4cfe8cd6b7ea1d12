# Rounded to a multiple, half down, then kept within min and max.

set $size=cvar(type=cvar-normal, parameters="mean:8192;sigma:4096", min=1k, max=16k, round=1k)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
