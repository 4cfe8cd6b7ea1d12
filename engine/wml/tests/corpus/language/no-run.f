# Without a run the commands are done, and that is all.
# expect-warning: the text has no 'run', so nothing is measured

define fileset name=files, path=$dir, entries=20, size=16k, dirwidth=5, prealloc

create files
verify
