# Repetitions on each pass: a number or a random variable.
# expect-warning: 'iters' is 0, so that this is never done

set $times=randvar(type=uniform, mean=3)
define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files, iters=3
    flowop statfile name=stat-drawn, filesetname=files, iters=$times
    flowop statfile name=stat-never, filesetname=files, iters=0
  }
}

run 1
