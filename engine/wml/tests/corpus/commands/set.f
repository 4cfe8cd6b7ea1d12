# Sets variables to numbers, truth values, words, strings and one another.

set $count=20
set $yes=true
set $path=$dir
set $name="files"
set $entries=$count

define fileset name=$name, path=$path, entries=$entries, size=4k, dirwidth=5, prealloc=100, paralloc=$yes

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=$name
  }
}

run 1
