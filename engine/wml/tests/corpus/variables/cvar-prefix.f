# The prefix cvar- may be left out, and so may the parameters.

set $size=cvar(type=gamma)

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
