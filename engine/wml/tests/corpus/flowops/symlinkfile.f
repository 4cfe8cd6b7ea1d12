# Makes a symbolic link under the name of a file that does not exist.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc=50

define process name=p
{
  thread name=t
  {
    flowop symlinkfile name=symlink, filesetname=files
    flowop deletefile name=delete, filesetname=files
  }
}

run 1
