# Repeats commands for each value.

set $threads=1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=$threads
  {
    flowop statfile name=stat, filesetname=files
  }
}

foreach $n in 1, 2, 4
{
  set $threads=$n
  echo "$n threads"
  run 1
}
