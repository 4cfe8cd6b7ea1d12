# 1.4's shape of the sizes, times 1000.
# expect-warning: version 1.4's 'filesizegamma' makes the sizes gamma variates around a fixed 'size'; write size=$size with set $size=randvar(type=gamma, mean=..., gamma=...)

define fileset name=files, path=$dir, entries=20, size=8k, filesizegamma=1500, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
