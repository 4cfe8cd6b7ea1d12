# What to repeat for?

foreach $n in
{
  echo "$n"
}
