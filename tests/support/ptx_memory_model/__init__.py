"""Second transcription of PTX's memory model, as a logic program, and what else its tests share."""
