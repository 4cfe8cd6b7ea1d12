"""How fast the workload engine is, as ratios measured side by side in one run.

`python -m bench.NAME --help` explains a question and how it is answered: `operation_cost`,
`servers`, `scaling`, `creation`, `memory`. Quantities are medians over interleaved rounds, with the
least and the greatest in parentheses.
"""
