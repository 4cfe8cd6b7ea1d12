"""How fast the parts are that must be, as ratios measured in one run; and how good intervals are.

`python -m bench.NAME --help` explains a question and how it is answered. The workload engine:
`operation_cost`, `servers`, `scaling`, `creation`, `memory`; RocksDB beside YCSB's own client:
`ycsb`; simulated disks: `simdisk_floor`; virtual machines: `guest`; power: `capture_cost`,
`reduce_rate`, `live_frame`; the explorer: `explore_redraw`; analysis: `analysis_rate`,
`bootstrap_rate`; statistics: `coverage`; NFS: `nfs_read_ahead`, `nfs_throughput`; many testbeds:
`fleet`. Speeds are medians over interleaved rounds, with the least and the greatest in
parentheses.
"""
