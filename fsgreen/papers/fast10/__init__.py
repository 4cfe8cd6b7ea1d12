"""Sehgal, Tarasov and Zadok: Evaluating Performance and Energy in File System Server Workloads."""
