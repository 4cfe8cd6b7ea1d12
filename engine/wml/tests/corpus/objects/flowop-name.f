# Flowops are reported, and looked for, by their names, which may hold variables.

set $nth=1

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name="process-$nth"
{
  thread name="thread-$nth"
  {
    flowop statfile name="stat-$nth", filesetname=files
    flowop finishoncount name=enough, value=100, target="stat-$nth"
  }
}

run 1
