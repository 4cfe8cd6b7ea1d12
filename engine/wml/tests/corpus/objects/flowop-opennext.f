# Goes through the slots, from 127 down to 0.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop openfile name=open, filesetname=files, opennext
    flowop readwholefile name=read, opennext
  }
}

run 1
