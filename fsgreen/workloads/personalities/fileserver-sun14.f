# The file server of sun14: 50 threads each create and write a file, append to one, read one, delete
# one and stat one.
#
# sun14, table 2: 10,000 files of 128 KiB, I/O of 16 KiB in the mean and of 1 MiB, 50 threads, 1
# read for 2 writes.
# Not stated there: how file sizes vary, how deep the directories are, which share of the files
# exists at the start; these are as in the file server of fast10. The 16 KiB are taken as the bound
# of the appends, not as their mean: so an operation moves the 24.5 KiB that table 3 implies if its
# MB are Filebench's, of 2^20 bytes.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=10000*$scale
set $nthreads=50
set $iosize=1m
set $appendsize=16k
set $filesize=randvar(type=gamma, gamma=1500, mean=128k, min=1k)

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
