"""Backups of what the control plane knows: records, ledger, accounts, audit, conditions, and what it signs with.

They are made while it works and say what one moment was. They never hold homes or snapshots, which are the node's.
"""
