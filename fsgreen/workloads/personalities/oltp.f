# A database: 200 readers, 10 asynchronous writers and one log writer, each a process.
#
# fast10, table 1: 10 data files of 0.5 GiB, random reads and writes of 2 KiB, 200 + 10 processes,
# 20 reads for a write, and a log written synchronously in units of 256 KiB.
# Not stated there: how often the log is written (every 3,200 reads), the size of the log, and the
# time that a reader computes for each read (200,000 stores to memory).
#
# Semaphores keep the ratio: each read posts 1 to every writer, and a writer takes 1,000 for 5
# writes, so that 10 writers make 50 writes for 1,000 reads.
#
# scale: share of the published size of the data files (there are always ten).
# load: counted operations a second over all processes; 0 is as fast as it goes.
# directio: bypass the page cache; what the file system does on its own if false.

set $scale=1
set $load=0
set $directio=false
set $nreaders=200
set $nwriters=10
set $iosize=2k
set $filesize=512m*$scale
set $logsize=10m
set $compute=200000

define fileset name=data, path=$dir, size=$filesize, entries=10, dirwidth=1024, dirgamma=0, prealloc, paralloc
define fileset name=redo, path=$dir, size=$logsize, entries=1, dirwidth=1024, dirgamma=0, prealloc

eventgen rate=$load

define process name=log-writer, instances=1
{
  thread name=log-writer
  {
    flowop semblock name=wait-for-log, value=3200, highwater=6400
    flowop write name=write-log, filesetname=redo, iosize=256k, random, dsync, directio=$directio
    flowop opslimit name=load
  }
}

define process name=writer, instances=$nwriters
{
  thread name=writer
  {
    flowop semblock name=wait-for-reads, value=1000, highwater=2000
    flowop aiowrite name=write-data, filesetname=data, iosize=$iosize, random, dsync, directio=$directio, iters=5
    flowop aiowait name=reap
    flowop opslimit name=load
  }
}

define process name=reader, instances=$nreaders
{
  thread name=reader
  {
    flowop read name=read-data, filesetname=data, iosize=$iosize, random, directio=$directio
    flowop hog name=compute, value=$compute
    flowop sempost name=post-log, value=1, target=wait-for-log, blocking
    flowop sempost name=post-writers, value=1, target=wait-for-reads, blocking
    flowop opslimit name=load
  }
}

run 600
