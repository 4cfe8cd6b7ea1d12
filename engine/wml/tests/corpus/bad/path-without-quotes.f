# A path behind a variable needs quotes.

set $base=/x
define fileset name=files, path=$base/below, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
