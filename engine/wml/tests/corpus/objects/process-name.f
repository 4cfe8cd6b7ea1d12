# Processes are reported by their names, which may hold variables.

set $nth=1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name="process-$nth"
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
