"""CSV of Quarch power modules."""
