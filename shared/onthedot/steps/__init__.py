"""The protocol, a verb each. Steps know the rules and what they ask of the world, and nothing of AWS."""
