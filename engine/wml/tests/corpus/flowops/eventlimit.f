# Takes one event of the generator for each pass.

eventgen rate=100
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
    flowop eventlimit name=limit
  }
}

run 1
