# A composite repeats its inside, as its definition or its use says.

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define flowop name=look, iters=3
{
  flowop statfile name=stat, filesetname=files
}

define process name=p
{
  thread name=t
  {
    flowop look name=three-times
    flowop look name=five-times, iters=5
  }
}

run 1
