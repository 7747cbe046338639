"""Laws of the sum that changed topics lose when each is a win or a loss by chance, whatever the others are."""
