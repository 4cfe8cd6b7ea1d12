# Shared appends: 100 threads append to three common files for a fixed time.
#
# fast10, section 5.2: 100 threads, 3 files, a fixed time; the appends are counted.
# Not stated there: how much is appended (up to 16 KiB, as to the web server's log), how the threads
# share the files (each keeps to one, which 33 or 34 of them do), what the files hold at the start
# (nothing), and how long it takes (600 s, as for the servers).
#
# scale: share of the size of an append, as a device in memory fills within seconds.
# load: appends a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nthreads=100
set $appendsize=16k*$scale
set $startsize=0

define fileset name=logs, path=$dir, size=$startsize, entries=3, dirwidth=3, dirgamma=0, prealloc

eventgen rate=$load

define process name=appender, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop appendfilerand name=append, filesetname=logs, iosize=$appendsize
    flowop opslimit name=load
  }
}

run 600
