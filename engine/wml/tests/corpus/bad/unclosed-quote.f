# A string ends on its line.

set $what="the files
echo $what
