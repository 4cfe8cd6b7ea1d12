# Opens and closes: 100 threads open and close the files of the file server, and do nothing else.
#
# fast10, section 5.3: 50,000 files, those of the file server (table 1: 256 KiB in the mean, mean
# directory depth 3.6), 100 threads.
# Not stated there: which file is opened next (the next one of all, in turn), and that all exist.
#
# scale: share of the published number of files (their sizes stay).
# load: opens and closes a second over all threads; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=50000*$scale
set $nthreads=100
set $filesize=randvar(type=gamma, gamma=1500, mean=256k, min=1k)

define fileset name=shares, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc, paralloc

eventgen rate=$load

define process name=opener, instances=1
{
  thread name=worker, instances=$nthreads
  {
    flowop openfile name=open, filesetname=shares, fd=1
    flowop closefile name=close, fd=1
    flowop opslimit name=load
  }
}

run 600
