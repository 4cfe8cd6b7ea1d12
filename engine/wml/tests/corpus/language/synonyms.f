# filename is filesetname, filesize is size; file, fileset and process may be plurals.

define files name=log, path=$dir, filesize=4k, prealloc
define filesets name=files, path=$dir, entries=4, filesize=4k, dirwidth=2, prealloc

define processes name=p
{
  thread name=t
  {
    flowop statfile name=stat-log, filename=log
    flowop statfile name=stat, filename=files
  }
}

run 1
