# The start of a program: its pages are touched here and there, directories are listed, and many
# files are each read once.
#
# greenfs08, section 4.1.2: Emacs 22.1 started from a file system that is two years old, with empty
# caches.
# Not stated there: anything else. The numbers of files, their sizes, the pages and directories are
# ours; this is work of that kind, not that start, and the file system is as old as it is. Compare
# file systems and media with one another, not seconds with the study.
# The caches are dropped before the run, which needs root; without, mount anew. Measure it without
# warm-up.
#
# scale: share of the number of files (their sizes stay).
# load: counted operations a second; 0 is as fast as it goes.

set $scale=1
set $load=0
set $nfiles=400*$scale
set $pages=500
set $lists=40
set $iosize=64k
set $programsize=8m
set $filesize=randvar(type=gamma, gamma=1500, mean=32k, min=512)

set mode quit alldone

define file name=program, path=$dir, size=$programsize, prealloc, readonly
define fileset name=files, path=$dir, size=$filesize, entries=$nfiles, dirwidth=20, prealloc, readonly

eventgen rate=$load

define flowop name=load-file
{
  flowop openfile name=open, filesetname=files, fd=2
  flowop statfile name=stat, fd=2
  flowop readwholefile name=read, fd=2, iosize=$iosize
  flowop closefile name=close, fd=2
  flowop opslimit name=load
}

define process name=program, instances=1
{
  thread name=program
  {
    flowop openfile name=open-program, filesetname=program, fd=1
    flowop mmapread name=page-in, fd=1, iosize=4k, random, iters=$pages
    flowop listdir name=list, filesetname=files, iters=$lists
    flowop load-file name=file, iters=$nfiles
    flowop closefile name=close-program, fd=1
    flowop finishoncount name=once, target=close-program, value=1
  }
}

create files
sync
dropcaches
run
