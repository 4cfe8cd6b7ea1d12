# A character that the language does not have.

set $size=10; set $entries=5
