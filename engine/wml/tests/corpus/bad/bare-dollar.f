# A dollar sign is a variable, unless it is escaped.

echo "it costs $ 5"
