# Repeated commands end with a brace.

foreach $n in 1, 2
{
  echo "$n"
