# A compilation: a compiler reads each source and the headers that it includes, computes, and writes
# an object; once all objects are there, a linker reads them and writes the program.
#
# greenfs08, section 4.1.1: OpenSSH 4.0p1 compiled, which CPU time dominates.
# Not stated there: anything else. The numbers of files, their sizes, the headers for each source
# and the computing are ours; this is work of that kind, not that compilation. Compare file systems
# and media with one another, not seconds with the study. Measure it without warm-up.
#
# jobs: compilers at once, a divisor of the number of sources.
# compute: stores to memory for each source, some 0.3 ns each.
# scale: share of the number of sources and headers (their sizes stay).
# load: counted operations a second over all processes; 0 is as fast as it goes.

set $scale=1
set $load=0
set $jobs=1
set $nsources=200*$scale
set $nheaders=300*$scale
set $includes=40
set $compute=1g
set $iosize=64k
set $objectsize=24k
set $sourcesize=randvar(type=gamma, gamma=1500, mean=16k, min=1k)
set $headersize=randvar(type=gamma, gamma=1500, mean=8k, min=512)

set mode quit alldone

define fileset name=sources, path=$dir, size=$sourcesize, entries=$nsources, dirwidth=100, prealloc
define fileset name=headers, path=$dir, size=$headersize, entries=$nheaders, dirwidth=100, prealloc
define fileset name=objects, path=$dir, size=$objectsize, entries=$nsources, dirwidth=100
define file name=program, path=$dir, size=$nsources*$objectsize

eventgen rate=$load

define flowop name=readfile, $files
{
  flowop openfile name=open, filesetname=$files, fd=1
  flowop statfile name=stat, fd=1
  flowop readwholefile name=read, fd=1, iosize=$iosize
  flowop closefile name=close, fd=1
}

define process name=compiler, instances=$jobs
{
  thread name=compiler
  {
    flowop readfile name=source, $files=sources
    flowop readfile name=header, $files=headers, iters=$includes
    flowop hog name=compute, value=$compute
    flowop createfile name=create-object, filesetname=objects, fd=2
    flowop writewholefile name=write-object, fd=2, iosize=$iosize
    flowop closefile name=close-object, fd=2
    flowop sempost name=compiled, target=all-compiled, value=1
    flowop opslimit name=load
    flowop finishoncount name=done, target=close-object, value=$nsources/$jobs
  }
}

define process name=linker, instances=1
{
  thread name=linker
  {
    flowop semblock name=all-compiled, value=$nsources, highwater=$nsources+1
    flowop readfile name=object, $files=objects, iters=$nsources
    flowop createfile name=create-program, filesetname=program, fd=2
    flowop writewholefile name=write-program, fd=2, iosize=$iosize
    flowop closefile name=close-program, fd=2
    flowop opslimit name=load
    flowop finishoncount name=done, target=close-program, value=1
  }
}

run
