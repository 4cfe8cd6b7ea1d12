# 1.4's text for users, without effect.
# expect-warning: version 1.4's 'usage' has no effect: use 'echo' to print a text

usage "set $dir=DIRECTORY"

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
