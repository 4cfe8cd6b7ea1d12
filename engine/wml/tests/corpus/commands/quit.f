# Ends the text: what stands below is not done.
# expect-warning: nothing below 'quit' is done

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat, filesetname=files
  }
}

run 1
quit
run 3600
