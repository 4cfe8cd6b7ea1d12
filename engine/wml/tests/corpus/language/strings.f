# Bare words, quoted strings, variables inside them, and escapes.

set $sub=under
set $what="the files"

define fileset name=files, path="$dir", entries=4, size=4k, dirwidth=2, prealloc
define fileset name="files-$sub", path=$dir, entries=4, size=4k, dirwidth=2, prealloc

define process name=p
{
  thread name=t
  {
    flowop statfile name=stat-1, filesetname="files"
    flowop statfile name=stat-2, filesetname="files-${sub}"
  }
}

echo "$what cost \$5 a \"piece\"\n"
run 1
