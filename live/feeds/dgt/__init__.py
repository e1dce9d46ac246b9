"""DGT LiveChess: the boards in the hall, and the cloud."""
