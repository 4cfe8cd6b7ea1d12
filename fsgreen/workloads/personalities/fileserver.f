# A file server: 100 threads each create and write a file, append to one, read one, delete one and
# stat one.
#
# fast10, table 1: 50,000 files of 256 KiB in the mean, mean directory depth 3.6, whole-file reads
# and writes in units of 1 MiB, appends of up to 16 KiB, 100 threads, 1 read for 2 writes.
# Not stated there: the share of the files that exist at the start (80 %, as in the mail server).
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=50000*$scale
set $nthreads=100
set $iosize=1m
set $appendsize=16k
set $filesize=randvar(type=gamma, gamma=1500, mean=256k, min=1k)

define fileset name=shares, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc=80, paralloc

eventgen rate=$load

define process name=fileserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop createfile name=create, filesetname=shares, fd=1
    flowop writewholefile name=write, fd=1, iosize=$iosize
    flowop closefile name=close-written, fd=1
    flowop openfile name=open-to-append, filesetname=shares, fd=1
    flowop appendfilerand name=append, fd=1, iosize=$appendsize
    flowop closefile name=close-appended, fd=1
    flowop openfile name=open-to-read, filesetname=shares, fd=1
    flowop readwholefile name=read, fd=1, iosize=$iosize
    flowop closefile name=close-read, fd=1
    flowop deletefile name=delete, filesetname=shares
    flowop statfile name=stat, filesetname=shares
    flowop opslimit name=load
  }
}

run 600
