# Creates the next file that does not exist.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop createfile name=create, filesetname=files, fd=1
    flowop closefile name=close, fd=1
    flowop deletefile name=delete, filesetname=files
  }
}

run 1
