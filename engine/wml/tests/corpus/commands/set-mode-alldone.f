# The run ends when all threads have reached their goals.

set mode quit alldone

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5

define process name=p
{
  thread name=t
  {
    flowop createfile name=create, filesetname=files, fd=1
    flowop closefile name=close, fd=1
  }
}

run
