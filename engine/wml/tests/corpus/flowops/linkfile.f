# Links a file under the name of one that does not exist.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop linkfile name=link, filesetname=files
    flowop deletefile name=delete, filesetname=files
  }
}

run 1
