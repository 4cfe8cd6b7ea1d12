# true and false; an attribute without a value is true.

set $yes=true
set $no=false

define fileset name=files, path=$dir, entries=4, size=16k, dirwidth=2, prealloc, paralloc=$yes

define process name=p
{
  thread name=t
  {
    flowop read name=bare, filesetname=files, iosize=4k, random
    flowop read name=said, filesetname=files, iosize=4k, random=true, dsync=false, directio=$no
  }
}

run 1
