# The source of randomness, without effect: there is one generator.

set $first=randvar(type=uniform, mean=8k, randsrc=rand48)
set $second=randvar(type=uniform, mean=8k, randsrc=urandom)

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop read name=first, filesetname=files, iosize=$first
    flowop read name=second, filesetname=files, iosize=$second
  }
}

run 1
