"""Live systems as candidates: functions that are imported, and queried within limits of time and size."""
