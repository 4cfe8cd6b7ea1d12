# The web server of sun14: 100 threads read ten whole files each, then append to one common log.
#
# sun14, table 2: 1,000 files of 16 KiB, I/O in units of 1 MiB, 100 threads, 10 reads for a write.
# Not stated there: how file sizes vary, how deep the directories are, and how much is appended;
# these are as in the web server of fast10.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=1000*$scale
set $nthreads=100
set $iosize=1m
set $appendsize=16k
set $filesize=randvar(type=gamma, gamma=1500, mean=16k, min=1k)

define fileset name=pages, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc, paralloc
define file name=log, path=$dir, size=$appendsize, prealloc

eventgen rate=$load

define flowop name=serve
{
  flowop openfile name=open, filesetname=pages, fd=1
  flowop readwholefile name=read, fd=1, iosize=$iosize
  flowop closefile name=close, fd=1
}

define process name=webserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop serve name=page, iters=10
    flowop appendfilerand name=append-log, filesetname=log, iosize=$appendsize, fd=2
    flowop opslimit name=load
  }
}

run 600
