# A process without a thread.

define process name=p
{
}
run 1
