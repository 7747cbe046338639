"""What files of every format share: how they are opened, how much they may hold, and JSON."""
