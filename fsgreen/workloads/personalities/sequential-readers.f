# Sequential readers: n processes at once each read a file of their own from start to end.
#
# nfstricks03, section 4.3: n = 1, 2, 4, 8, 16, 32 readers of one file of 256/n MB each, which hold
# data in all blocks; throughput is 256 MB over the time of the last reader, here the bytes read over
# the duration. Section 5.3: the time of each of eight readers, here the latencies of `read`.
# Not stated there: how much the readers ask for at once (8 KiB, the study's NFS read size), and
# where the files lie (in one directory).
# A read whose slot is empty opens the file of its reader; `openfile` would take turns, eight at once,
# which are the same file again where there are eight.
# The caches are dropped before the run, which needs root; without, mount anew. Measure it without
# warm-up.
#
# readers: n.
# scale: share of the published 256 MB.
# load: counted operations a second over all readers (two a file); 0 is as fast as it goes.

set $scale=1
set $load=0
set $readers=8
set $iosize=8k
set $total=256m*$scale

set mode quit alldone

define fileset name=files, path=$dir, size=$total/$readers, entries=$readers, dirwidth=32, dirgamma=0, prealloc

eventgen rate=$load

define process name=reader, instances=$readers
{
  thread name=reader
  {
    flowop readwholefile name=read, filesetname=files, fd=1, iosize=$iosize
    flowop closefile name=close, fd=1
    flowop opslimit name=load
    flowop finishoncount name=once, target=close, value=1
  }
}

create files
sync
dropcaches
run
