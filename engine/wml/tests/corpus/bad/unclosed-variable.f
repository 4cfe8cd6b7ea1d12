# A brace that does not close.

echo "${what"
