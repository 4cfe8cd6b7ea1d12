"""Tables of any program: columns are declared, or named by a recipe."""
