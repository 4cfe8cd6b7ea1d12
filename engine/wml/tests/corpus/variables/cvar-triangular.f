# Triangular.

set $size=cvar(type=cvar-triangular, parameters="lower:1024;upper:16384;mode:4096", min=1, max=1m)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
