# Sleeps; fractions of a second are kept.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop delay name=pause, value=0.01
  }
}

run 1
