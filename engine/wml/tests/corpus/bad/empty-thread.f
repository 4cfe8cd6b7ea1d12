# A thread without a flowop.

define process name=p
{
  thread name=t
  {
  }
}
run 1
