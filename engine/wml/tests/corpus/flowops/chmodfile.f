# Changes the mode of the next file, to and fro.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop chmodfile name=chmod, filesetname=files
  }
}

run 1
