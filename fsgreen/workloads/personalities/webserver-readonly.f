# The web server without its log: 100 threads read whole files, and nothing is written.
#
# fast10, section 5.2: the web server with the appends to its log taken out, to see what they cost.
# Files, reads and threads are the web server's (table 1): 20,000 files of 32 KiB in the mean, mean
# directory depth 3.3, whole-file reads in units of 1 MiB, 100 threads.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=20000*$scale
set $nthreads=100
set $iosize=1m
set $filesize=randvar(type=gamma, gamma=1500, mean=32k, min=1k)

define fileset name=pages, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc, paralloc

eventgen rate=$load

define process name=webserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop openfile name=open, filesetname=pages, fd=1
    flowop readwholefile name=read, fd=1, iosize=$iosize
    flowop closefile name=close, fd=1
    flowop opslimit name=load
  }
}

run 600
