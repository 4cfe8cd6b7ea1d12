# A stride reader: a process reads one file in s sequential streams that take turns.
#
# nfstricks03, section 7: a file of 256 MB, s = 2, 4, 8, the streams begin at multiples of 256/s MB
# and are read block by block in turn (0, x, 1, x+1, ...), the caches are flushed before each run.
# Not stated there: the size of a block (8 KiB, the study's NFS read size).
# The caches are dropped before the run, which needs root; without, mount anew. Measure it without
# warm-up.
#
# stride: s.
# readers: processes, each of which reads the whole file so; the study has 1.
# scale: share of the published 256 MB.
# load: blocks a second; 0 is as fast as it goes.

set $scale=1
set $load=0
set $stride=2
set $readers=1
set $iosize=8k
set $size=256m*$scale

set mode quit alldone

define file name=file, path=$dir, size=$size, prealloc

eventgen rate=$load

define process name=reader, instances=$readers
{
  thread name=reader
  {
    flowop read name=read, filesetname=file, iosize=$iosize, streams=$stride
    flowop opslimit name=load
    flowop finishoncount name=once, target=read, value=$size/$iosize
  }
}

create files
sync
dropcaches
run
