"""Files behind an NFS server that reads ahead, by the programs of `fsgreen-nfs`."""

from fsgreen.workloads.nfs.programs import PROGRAM, Program, require, started
from fsgreen.workloads.nfs.workload import Nfs

__all__ = ["PROGRAM", "Nfs", "Program", "require", "started"]
