# Words of the language may be names, bare and in quotes.

define fileset name=file, path=$dir, entries=4, size=4k, dirwidth=2, prealloc

define process name=client
{
  thread name="run"
  {
    flowop statfile name=random, filesetname=file
    flowop openfile name=thread, filesetname=file, fd=1
    flowop closefile name=set, fd=1
  }
}

echo "run"
run 1
