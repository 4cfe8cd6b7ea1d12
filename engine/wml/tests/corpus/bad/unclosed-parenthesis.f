# A parenthesis that does not close.

set $entries=(10+5*2
set $size=4k
