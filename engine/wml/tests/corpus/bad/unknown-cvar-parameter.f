# A misspelt parameter of a custom variable.

set $size=cvar(type=cvar-weibull, parameters="shap:2;scale:8192")
define fileset name=files, path=$dir, entries=20, size=$size, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
