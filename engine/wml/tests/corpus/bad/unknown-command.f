# A misspelt command.

defin fileset name=files, path=$dir, entries=20, dirwidth=5
