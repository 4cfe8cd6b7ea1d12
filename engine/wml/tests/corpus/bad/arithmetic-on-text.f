# Arithmetic needs numbers.

set $dir="/tmp"
set $size=$dir*2
