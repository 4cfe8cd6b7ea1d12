# Nothing divides by zero.

set $none=0
set $size=16k/$none
