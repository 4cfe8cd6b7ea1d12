# A web server: 100 threads read ten whole files each, then append to one common log.
#
# fast10, table 1: 20,000 files of 32 KiB in the mean, mean directory depth 3.3, whole-file reads
# in units of 1 MiB, appends of up to 16 KiB, 100 threads, 10 reads for a write.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=20000*$scale
set $nthreads=100
set $iosize=1m
set $appendsize=16k
set $filesize=randvar(type=gamma, gamma=1500, mean=32k, min=1k)

define fileset name=pages, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc, paralloc
define file name=log, path=$dir, size=$appendsize, prealloc

eventgen rate=$load

define process name=webserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop openfile name=open-1, filesetname=pages, fd=1
    flowop readwholefile name=read-1, fd=1, iosize=$iosize
    flowop closefile name=close-1, fd=1
    flowop openfile name=open-2, filesetname=pages, fd=1
    flowop readwholefile name=read-2, fd=1, iosize=$iosize
    flowop closefile name=close-2, fd=1
    flowop openfile name=open-3, filesetname=pages, fd=1
    flowop readwholefile name=read-3, fd=1, iosize=$iosize
    flowop closefile name=close-3, fd=1
    flowop openfile name=open-4, filesetname=pages, fd=1
    flowop readwholefile name=read-4, fd=1, iosize=$iosize
    flowop closefile name=close-4, fd=1
    flowop openfile name=open-5, filesetname=pages, fd=1
    flowop readwholefile name=read-5, fd=1, iosize=$iosize
    flowop closefile name=close-5, fd=1
    flowop openfile name=open-6, filesetname=pages, fd=1
    flowop readwholefile name=read-6, fd=1, iosize=$iosize
    flowop closefile name=close-6, fd=1
    flowop openfile name=open-7, filesetname=pages, fd=1
    flowop readwholefile name=read-7, fd=1, iosize=$iosize
    flowop closefile name=close-7, fd=1
    flowop openfile name=open-8, filesetname=pages, fd=1
    flowop readwholefile name=read-8, fd=1, iosize=$iosize
    flowop closefile name=close-8, fd=1
    flowop openfile name=open-9, filesetname=pages, fd=1
    flowop readwholefile name=read-9, fd=1, iosize=$iosize
    flowop closefile name=close-9, fd=1
    flowop openfile name=open-10, filesetname=pages, fd=1
    flowop readwholefile name=read-10, fd=1, iosize=$iosize
    flowop closefile name=close-10, fd=1
    flowop appendfilerand name=append-log, filesetname=log, iosize=$appendsize, fd=2
    flowop opslimit name=load
  }
}

run 600
