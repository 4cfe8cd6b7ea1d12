# Nothing exists, and nothing creates.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
