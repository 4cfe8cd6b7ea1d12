# Gamma; here the shape is itself, not a thousand times as large.

set $size=cvar(type=cvar-gamma, parameters="mean:8192;gamma:1.5", min=1, max=1m)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
