# 1.4's other word for create files.
# expect-warning: version 1.4's 'create filesets' is done as 'create files'

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

create filesets
run 1
