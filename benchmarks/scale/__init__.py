"""A simulation of a deployment under AWS's limits, with our measured CPU and counted calls; see docs/scale.md."""
