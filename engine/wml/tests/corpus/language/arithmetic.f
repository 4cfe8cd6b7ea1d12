# + - * / and parentheses wherever a number may stand.

set $scale=0.5
set $entries=(10+30)*$scale-4/2

define fileset name=files, path=$dir, entries=$entries, size=16k/(2*2), dirwidth=$entries/3+1, prealloc=100-50

define process name=p
{
  thread name=t, instances=1+1
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1/2
