# A misspelt kind of definition.

define filset name=files, path=$dir, entries=20, dirwidth=5
