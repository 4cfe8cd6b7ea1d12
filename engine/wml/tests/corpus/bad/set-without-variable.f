# A variable begins with a dollar sign.

set size=4k
