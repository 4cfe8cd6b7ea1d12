# The mail server of sun14: 16 threads deliver, read and delete mail in one flat directory, each
# message a file, and each append made durable.
#
# sun14, table 2: 1,000 files of 16 KiB, appends of 16 KiB in the mean, whole-file reads in units of
# 1 MiB, 16 threads, 1 read for a write.
# Not stated there: how file sizes vary, that the directory is flat, which share of the files exists
# at the start; these are as in the mail server of fast10. The 16 KiB are taken as the bound of the
# appends, as in the file server.
#
# scale: share of the published number of files (their sizes stay).
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=1000*$scale
set $nthreads=16
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
