# 1.4's way to set a random variable.
# expect-warning: version 1.4's 'define randvar' is done as 'set $size=randvar(...)'

define randvar name=$size, type=gamma, mean=8k, min=1k

define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
