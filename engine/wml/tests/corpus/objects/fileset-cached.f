# 1.4's attribute, without effect.
# expect-warning: version 1.4's 'cached' has no effect; 'dropcaches' empties the page cache

define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=5, prealloc, cached

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
