"""Live systems as candidates: functions, commands and engines over HTTP, queried within limits of time and size."""
