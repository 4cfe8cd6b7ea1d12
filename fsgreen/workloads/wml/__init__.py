"""Workloads in the Workload Model Language: a text each, run by `fsgreen-wml`."""

from fsgreen.workloads.wml.workload import WmlWorkload, latency_table

__all__ = ["WmlWorkload", "latency_table"]
