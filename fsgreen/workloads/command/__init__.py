"""Workloads that are a command of their own, whose results a reader understands: fio."""

from fsgreen.workloads.command.workload import CommandWorkload

__all__ = ["CommandWorkload"]
