# A random variable has no value outside a flowop.

set $size=randvar(mean=8k)
echo "files of $size"
