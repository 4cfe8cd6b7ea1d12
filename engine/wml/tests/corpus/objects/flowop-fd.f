# The slot, 0 unless given, up to 128.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files
    flowop openfile name=open-last, filesetname=files, fd=128
    flowop closefile name=close
    flowop closefile name=close-last, fd=128
  }
}

run 1
