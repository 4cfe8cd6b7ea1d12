"""How fast the workload engine and the capture of power are, as ratios measured in one run.

`python -m bench.NAME --help` explains a question and how it is answered: `operation_cost`,
`servers`, `scaling`, `creation`, `memory`; `capture_cost`, `reduce_rate`, `live_frame`. Quantities
are medians over interleaved rounds, with the least and the greatest in parentheses.
"""
