# Deletes the file of a slot, or the next one that nobody has open.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop createfile name=create, filesetname=files, fd=1
    flowop deletefile name=delete-own, fd=1
    flowop closefile name=close, fd=1
    flowop createfile name=create-another, filesetname=files, fd=1
    flowop closefile name=close-another, fd=1
    flowop deletefile name=delete-any, filesetname=files
  }
}

run 1
