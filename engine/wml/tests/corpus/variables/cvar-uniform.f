# Uniform between lower and upper.

set $size=cvar(type=cvar-uniform, parameters="lower:1024;upper:16384", min=1, max=1m)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
