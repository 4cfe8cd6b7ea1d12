# A mail server: 100 threads deliver, read and delete mail in one flat directory, each message a
# file, and each append made durable.
#
# fast10, table 1: 50,000 files of 16 KiB in the mean, one flat directory (mean depth 0.8), whole-
# file reads in units of 1 MiB, appends of up to 16 KiB each with its fsync, 100 threads, 1 read
# for a write. 80 % of the files exist at the start; deletes keep pace with creates.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=50000*$scale
set $nthreads=100
set $iosize=1m
set $appendsize=16k
set $filesize=randvar(type=gamma, gamma=1500, mean=16k, min=1k)

# dirgamma=0 makes the width fixed: all files fit into the first directory.
define fileset name=mail, path=$dir, size=$filesize, entries=$nfiles, dirwidth=1000000, dirgamma=0, prealloc=80, paralloc

eventgen rate=$load

define process name=mailserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop deletefile name=delete, filesetname=mail

    flowop createfile name=create, filesetname=mail, fd=1
    flowop appendfilerand name=append-new, fd=1, iosize=$appendsize
    flowop fsync name=fsync-new, fd=1
    flowop closefile name=close-new, fd=1

    flowop openfile name=open-old, filesetname=mail, fd=1
    flowop readwholefile name=read-old, fd=1, iosize=$iosize
    flowop appendfilerand name=append-old, fd=1, iosize=$appendsize
    flowop fsync name=fsync-old, fd=1
    flowop closefile name=close-old, fd=1

    flowop openfile name=open-any, filesetname=mail, fd=1
    flowop readwholefile name=read-any, fd=1, iosize=$iosize
    flowop closefile name=close-any, fd=1

    flowop opslimit name=load
  }
}

run 600
