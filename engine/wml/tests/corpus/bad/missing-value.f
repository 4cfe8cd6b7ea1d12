# An equals sign without a value.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p, instances=
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}
