# There are three modes to quit.

set mode quit never
