"""The steps' ports on AWS: the only place that knows items, keys, conditions and AWS's errors."""
