# 1.4's statistics, without effect: each run reports by itself.
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics
# expect-warning: version 1.4's 'stats' has no effect: each run reports its own statistics

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

stats clear
run 1
stats snap
stats command "vmstat 1"
stats directory /tmp/stats
stats dump "stats.out"
stats multidump "stats.csv"
stats xmldump "stats.xml"
