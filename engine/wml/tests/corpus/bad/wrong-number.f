# Sizes are 10, 1.5, 16k, 2m, 1g, 1t.

set $size=10kb
