"""Analysis that no study owns: cells, comparisons, interactions, intervals, and the ledger."""
