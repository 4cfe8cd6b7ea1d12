# Blanks and line ends separate words and mean nothing else; a comment ends with its line.
define fileset name=files ,path=$dir,   # a comment behind a word
  entries = 20, size=4k,
	dirwidth=5, prealloc   # a tab before the word
define process name=p { thread name=t { flowop statfile name="a # b", filesetname=files } } run 1
