# A ring reader: a process reads one file in s sequential streams that take turns, with several reads in flight.
#
# nfstricks03, section 7: the file, its blocks and their order are those of `stride-reader`. What came
# later is that one thread asks for its next blocks before it has the ones before, through an io_uring.
# Not stated there: all of that, and the size of a block (8 KiB, the study's NFS read size).
# It asks for no more once all blocks but as many as may be in flight have been read, so that it reads
# none twice; what is in flight then is waited for, and counts.
# The caches are dropped before the run, which needs root; without, mount anew. Measure it without
# warm-up.
#
# stride: s; 1 reads in order.
# in_flight: how many reads the process has under way.
# directio: bypass the page cache, and with it the read-ahead of the kernel.
# readers: processes, each of which reads the whole file so.
# scale: share of the published 256 MB.
# load: blocks a second; 0 is as fast as it goes.

set $scale=1
set $load=0
set $stride=1
set $in_flight=8
set $directio=false
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
    flowop uringread name=read, filesetname=file, iosize=$iosize, streams=$stride, value=$in_flight, directio=$directio
    flowop opslimit name=load
    flowop finishoncount name=once, target=read, value=$size/$iosize+1-$in_flight
  }
}

create files
sync
dropcaches
run
