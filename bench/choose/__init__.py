"""The page "Choose": what every classifier reaches and costs, measured; its tables and its tree, drawn from that."""
