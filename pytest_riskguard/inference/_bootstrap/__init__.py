"""Bootstrap laws of a mean and of a studentized mean: computed where they can be, drawn the same way where not."""
