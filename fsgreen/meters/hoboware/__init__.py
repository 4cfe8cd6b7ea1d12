"""HOBOware CSV of an Onset HOBO plug load logger."""
