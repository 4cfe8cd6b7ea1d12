# Appends that are not made durable: 100 threads create a file, append to it, open one, append.
#
# fast10, section 5.4: create-append-fsync with its fsyncs taken out, to see that they make the
# difference: create, append, open, append in the tree of the mail server (table 1: 50,000 files in
# one flat directory, appends of up to 16 KiB, 100 threads).
# Not stated there: what is not for create-append-fsync, and the same here. Measure it without
# warm-up.
#
# scale: share of the published number of files.
# load: counted operations a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=50000*$scale
set $nthreads=100
set $appendsize=16k

set mode quit alldone

# Nothing exists at the start; in the end there are two appends of 8 KiB in the mean for each file.
define fileset name=mail, path=$dir, size=$appendsize, entries=$nfiles, dirwidth=1000000, dirgamma=0

eventgen rate=$load

define process name=mailserver, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop createfile name=create, filesetname=mail, fd=1
    flowop appendfilerand name=append-new, fd=1, iosize=$appendsize
    flowop closefile name=close-new, fd=1

    flowop openfile name=open-old, filesetname=mail, fd=1
    flowop appendfilerand name=append-old, fd=1, iosize=$appendsize
    flowop closefile name=close-old, fd=1

    flowop opslimit name=load
    flowop finishoncount name=done, target=create, value=$nfiles/$nthreads
  }
}

run
