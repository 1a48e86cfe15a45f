"""The core: commands in, events out. It knows no clock, chance, file, socket or thread; time and chance arrive as data."""
