# $name and ${name} are one variable; a name may have one letter; a later set counts.

set $n=10
set $entries=${n}
set $n=20
set $same=$entries

define fileset name=files, path=${dir}, entries=$same, size=4k, dirwidth=5, prealloc

define process name=p
{
  thread name=t, instances=$n
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
